"""ssh_access.yml on a machine whose commands run by sudo."""

from __future__ import annotations

from .conftest import USER, Rack

KEY = "ssh-ed25519 AAAA the controller's"


def test_the_controllers_key_is_for_the_user_who_logs_in(one: Rack) -> None:
    directory = one.directory / "ssh"
    directory.mkdir()
    (directory / "id_ed25519.pub").write_text(f"{KEY}\n")
    one.played(
        "ssh_access",
        *("--start-at-task", "Authorize | Make the directory for accepted keys"),
        *("-e", f"turntable_ssh_dir={directory}"),
    )
    accepted = f"/home/{USER}/.ssh/authorized_keys"
    assert one.server.read(accepted).splitlines() == [KEY]
    assert one.server.run("stat", "-c", "%U %a", accepted).strip() == f"{USER} 600"
