"""Top-level declarations: the rest of the grammar, and the entry point `parse`."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from p4soft.errors import P4_14, P4Error, P4Warning, Position, unsupported
from p4soft.frontend import syntax
from p4soft.frontend.lexer import Token
from p4soft.frontend.preprocessor import Preprocessor
from p4soft.frontend.statement_parser import StatementParser
from p4soft.frontend.table_parser import parse_table

_DECLARATIONS_OF_P4_14 = frozenset(
    ("blackbox", "calculated_field", "field_list", "field_list_calculation", "header_type",
     "metadata", "parser_exception", "parser_value_set")
)  # fmt: skip


class ProgramParser(StatementParser):
    def program(self) -> syntax.Program:
        position = self.position
        declarations: list[syntax.Statement] = []
        while not self.at_end():
            if not self.accept(";"):
                declarations.append(self._declaration())
        return syntax.Program(position, declarations, self.all_annotations)

    def _declaration(self) -> syntax.Statement:
        annotations = self.annotations()
        token = self.peek()
        if self.at("header", "header_union", "struct"):
            return self._composite(annotations)
        if self.at("typedef") or (self.at("type") and self.peek(1).text not in ("(", "=")):
            return self._typedef()
        if self.at("enum"):
            return self._enum()
        if self.at("error", "match_kind") and self.peek(1).text == "{":
            return self._names()
        if self.at("extern"):
            return self._extern(annotations)
        if self.at("parser"):
            return self._parser(annotations)
        if self.at("control"):
            return self._control(annotations)
        if self.at("package"):
            return self._package()
        if self.at("action"):
            return self._action(annotations)
        if self.at("const"):
            return self.constant()
        if self.at_type():
            return self._instance_or_function(annotations)
        if token.text in _DECLARATIONS_OF_P4_14:
            raise P4Error(token.position, f"{token} is {P4_14}")
        raise P4Error(
            token.position,
            f"expected a declaration (header, struct, parser, control, const, ...), found {token}",
        )

    # --- Data types -------------------------------------------------------------------------------

    def _composite(self, annotations: list[syntax.Annotation]) -> syntax.Composite:
        keyword = self.take().text
        position = self.position
        name = self.name(f"the name of a {keyword}")
        if self.at("<"):
            raise unsupported(
                self.position, f"a generic {keyword}", f"a {keyword} without type parameters"
            )
        self.declare(name, is_type=True)
        self.expect("{", f"after the name of a {keyword}")
        fields: list[syntax.Field] = []
        while not self.accept("}"):
            field_annotations = self.annotations()
            declared = self.type_syntax()
            field_position = self.position
            field_name = self.name("a field's name")
            self.expect(";", f"after field '{field_name}'")
            fields.append(syntax.Field(field_position, declared, field_name, field_annotations))
        return syntax.Composite(position, keyword, name, fields, annotations)

    def _typedef(self) -> syntax.Typedef:
        distinct = self.take().text == "type"
        declared = self.type_syntax()
        position = self.position
        name = self.name("the name of a type")
        self.expect(";", f"after the type '{name}'")
        self.declare(name, is_type=True)
        return syntax.Typedef(position, name, declared, distinct)

    def _enum(self) -> syntax.Enum:
        self.take()
        base = self.type_syntax() if self.at("bit", "int") or self.peek(1).text != "{" else None
        position = self.position
        name = self.name("the name of an enum")
        self.declare(name, is_type=True)
        self.expect("{", "after the name of an enum")
        members: list[tuple[str, syntax.Expression | None, Position]] = []
        while not self.at("}"):
            at = self.position
            member = self.name("an enum's member")
            members.append((member, self.expression() if self.accept("=") else None, at))
            if not self.accept(","):
                break
        self.expect("}", "after an enum's members")
        return syntax.Enum(position, name, base, members)

    def _names(self) -> syntax.Names:
        token = self.take()
        self.take()
        members: list[tuple[str, Position]] = []
        while not self.at("}"):
            at = self.position
            members.append((self.name(f"a name of {token.text}"), at))
            if not self.accept(","):
                break
        self.expect("}", f"after the names of {token.text}")
        return syntax.Names(token.position, token.text, members)

    # --- Externs and packages ---------------------------------------------------------------------

    def _extern(self, annotations: list[syntax.Annotation]) -> syntax.Statement:
        self.take()
        is_object = self.is_name(self.peek()) and (
            self.peek(1).text == "{" or (self.peek(1).text == "<" and not self.at_type())
        )
        if not is_object:
            return self.function(annotations)
        position = self.position
        name = self.name("the name of an extern")
        self.declare(name, is_type=True)
        self.push_scope()
        type_parameters = self.type_parameters()
        self.expect("{", "before an extern's methods")
        methods: list[syntax.Function] = []
        while not self.accept("}"):
            method_annotations = self.annotations()
            if self.peek().text == "abstract":
                at = self.take().position
                method_annotations.append(syntax.Annotation(at, "abstract", []))
                self.all_annotations.append(method_annotations[-1])
            if self.peek().text == name and self.peek(1).text == "(":
                methods.append(self._constructor(name, method_annotations))
            else:
                methods.append(self.function(method_annotations))
        self.pop_scope()
        return syntax.Extern(position, name, type_parameters, methods)

    def _constructor(self, name: str, annotations: list[syntax.Annotation]) -> syntax.Function:
        position = self.take().position
        self.push_scope()
        parameters = self.parameters()
        self.pop_scope()
        self.expect(";", "after a constructor")
        return syntax.Function(position, name, None, [], parameters, None, annotations)

    def _package(self) -> syntax.Package:
        self.take()
        position = self.position
        name = self.name("the name of a package")
        self.declare(name, is_type=True)
        self.push_scope()
        type_parameters = self.type_parameters()
        parameters = self.parameters()
        self.pop_scope()
        self.expect(";", "after a package")
        return syntax.Package(position, name, type_parameters, parameters)

    def _instance_or_function(self, annotations: list[syntax.Annotation]) -> syntax.Statement:
        mark = self.mark()
        self.type_syntax()
        is_instance = self.at("(")
        self.rewind(mark)
        return self.variable_or_instance(annotations) if is_instance else self.function(annotations)

    # --- Parsers ----------------------------------------------------------------------------------

    def _parser(self, annotations: list[syntax.Annotation]) -> syntax.Parser:
        self.take()
        position = self.position
        name = self.name("the name of a parser")
        self.declare(name, is_type=True)
        self.push_scope()
        type_parameters = self.type_parameters()
        parameters = self.parameters()
        constructor: list[syntax.Parameter] = []
        local_declarations: list[syntax.Statement] = []
        states: list[syntax.ParserState] | None = None
        if not self.accept(";"):
            constructor = self.parameters() if self.at("(") else []
            self.expect("{", "before a parser's states")
            states = []
            while not self.accept("}"):
                inner = self.annotations()
                if self.at("state"):
                    states.append(self._state(inner))
                elif self.peek().text == "value_set":
                    local_declarations.append(self._value_set(inner))
                elif self.at("const"):
                    local_declarations.append(self.constant())
                else:
                    local_declarations.append(self.variable_or_instance(inner))
        self.pop_scope()
        return syntax.Parser(
            position,
            name,
            type_parameters,
            parameters,
            constructor,
            local_declarations,
            states,
            annotations,
        )

    def _value_set(self, annotations: list[syntax.Annotation]) -> syntax.ValueSet:
        self.take()
        self.expect("<", "before the type of a value set")
        declared = self.type_syntax()
        self.expect(">", "after the type of a value set")
        self.expect("(", "before the size of a value set")
        size = self.expression()
        self.expect(")", "after the size of a value set")
        position = self.position
        name = self.name("a value set's name")
        self.expect(";", "after a value set")
        self.declare(name, is_type=False)
        return syntax.ValueSet(position, name, declared, size, annotations)

    def _state(self, annotations: list[syntax.Annotation]) -> syntax.ParserState:
        self.take()
        position = self.position
        name = self.name("a state's name")
        self.expect("{", "after a state's name")
        self.push_scope()
        statements: list[syntax.Statement] = []
        transition: syntax.Select | str | None = None
        while not self.at("}"):
            if self.accept("transition"):
                transition = self._transition()
                break
            statements.append(self.statement())
        self.expect("}", f"after state '{name}'")
        self.pop_scope()
        return syntax.ParserState(position, name, statements, transition, annotations)

    def _transition(self) -> syntax.Select | str:
        position = self.position
        if not self.accept("select"):
            target = self.name("a state's name")
            self.expect(";", "after a transition")
            return target
        subjects = [argument.expression for argument in self.arguments()]
        self.expect("{", "before the cases of select")
        cases: list[syntax.SelectCase] = []
        while not self.accept("}"):
            start = self.position
            keys = self.key_set()
            self.expect(":", "after a case's key")
            cases.append(syntax.SelectCase(start, keys, self.name("a state's name")))
            self.expect(";", "after a case")
        return syntax.Select(position, subjects, cases)

    # --- Controls ---------------------------------------------------------------------------------

    def _control(self, annotations: list[syntax.Annotation]) -> syntax.Control:
        self.take()
        position = self.position
        name = self.name("the name of a control")
        self.declare(name, is_type=True)
        self.push_scope()
        type_parameters = self.type_parameters()
        parameters = self.parameters()
        constructor: list[syntax.Parameter] = []
        local_declarations: list[syntax.Statement] = []
        body: syntax.Block | None = None
        if not self.accept(";"):
            constructor = self.parameters() if self.at("(") else []
            self.expect("{", "before a control's declarations")
            while not self.at("apply"):
                local_declarations.append(self._control_local())
            self.take()
            body = self.block()
            self.expect("}", f"after control '{name}'")
        self.pop_scope()
        return syntax.Control(
            position,
            name,
            type_parameters,
            parameters,
            constructor,
            local_declarations,
            body,
            annotations,
        )

    def _control_local(self) -> syntax.Statement:
        annotations = self.annotations()
        if self.at("action"):
            return self._action(annotations)
        if self.at("table"):
            return parse_table(self, annotations)
        if self.at("const"):
            return self.constant()
        if self.at_type():
            return self.variable_or_instance(annotations)
        raise P4Error(
            self.position,
            f"expected an action, a table, a variable, an instance or apply, found {self.peek()}",
        )

    def _action(self, annotations: list[syntax.Annotation]) -> syntax.Action:
        self.take()
        position = self.position
        name = self.name("an action's name")
        self.push_scope()
        parameters = self.parameters()
        body = self.block()
        self.pop_scope()
        self.declare(name, is_type=False)
        return syntax.Action(position, name, parameters, body, annotations)


def parse_tokens(tokens: list[Token]) -> syntax.Program:
    return ProgramParser(tokens).program()


def parse(
    path: Path,
    include_directories: Iterable[Path],
    defines: dict[str, str],
    warn: Callable[[P4Warning], None] | None = None,
    may_include: frozenset[str] | None = None,
) -> syntax.Program:
    """The syntax tree of a program; warnings only if there is a function for them. may_include:
    names of the files that it may include, None: any.

    Raises P4Error, or OSError if the file cannot be read.
    """
    return parse_tokens(Preprocessor(include_directories, defines, warn, may_include).read(path))
