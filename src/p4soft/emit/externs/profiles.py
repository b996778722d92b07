"""ActionProfile and ActionSelector, as the implementation of tables."""

from __future__ import annotations

from p4soft.elaborate import ExternInstance, constant_name
from p4soft.emit.action_data import most_words
from p4soft.emit.externs.base import Extern, control_name
from p4soft.emit.state import Emission
from p4soft.errors import P4Error, unsupported


class ActionProfile(Extern):
    def declare(self, emission: Emission, instance: ExternInstance) -> None:
        users = emission.pipeline.users_of(instance)
        if not users:
            return
        size = instance.arguments[0]
        if size < 1:
            raise P4Error(instance.position, "an ActionProfile has room for at least 1 member")
        words = most_words(users[0].declaration)
        emission.members.add(
            f"IndexedTable<ExactMatchIndex<1>> {instance.identifier}_{{{size}, {words}, {{}}}};"
        )
        name = control_name(emission, instance.path)
        emission.setup.add(f'add_table("{name}", {instance.identifier}_);')


class ActionSelector(Extern):
    def declare(self, emission: Emission, instance: ExternInstance) -> None:
        if len(instance.arguments) != 5:
            raise unsupported(
                instance.position,
                "this constructor of ActionSelector",
                "ActionSelector(action_profile, hash, mode, max_group_size, num_groups)",
            )
        profile, _, _, group_size, groups = instance.arguments
        if not profile.path:
            raise unsupported(
                profile.position, "an ActionProfile without a name", "a named instance"
            )
        if group_size < 1 or groups < 1:
            raise P4Error(instance.position, "an ActionSelector has at least 1 group of 1 member")
        if not emission.pipeline.users_of(profile):
            return  # as the profile: it has no members to choose of
        resilient = "true" if constant_name(instance, 2) == "RESILIENT" else "false"
        emission.members.add(
            f"ActionSelector {instance.identifier}_{{{group_size}, {groups}, {resilient}}};"
        )
        name = control_name(emission, instance.path)
        members = control_name(emission, profile.path)
        emission.setup.add(f'add_selector("{name}", {instance.identifier}_, "{members}");')
