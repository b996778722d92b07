"""Annotations, statements, and the declarations that may stand among them."""

from __future__ import annotations

from p4soft.errors import P4Error, Position, unsupported
from p4soft.frontend import syntax
from p4soft.frontend.expression_parser import ExpressionParser
from p4soft.frontend.lexer import Kind, Token

_COMPOUND = {
    "+=": "+", "-=": "-", "*=": "*", "/=": "/", "%=": "%", "<<=": "<<",
    "&=": "&", "|=": "|", "^=": "^",
    "|+|=": "|+|", "|-|=": "|-|",
}  # fmt: skip


# Annotations whose argument is an expression.
WITH_EXPRESSION = frozenset(["adjust_byte_count"])


class StatementParser(ExpressionParser):
    def __init__(self, tokens: list[Token]) -> None:
        super().__init__(tokens)
        self.all_annotations: list[syntax.Annotation] = []

    # --- Annotations ------------------------------------------------------------------------------

    def annotations(self) -> list[syntax.Annotation]:
        found: list[syntax.Annotation] = []
        while self.at("@"):
            position = self.take().position
            token = self.take()
            if token.kind is not Kind.IDENTIFIER:
                raise P4Error(token.position, f"expected an annotation's name, found {token}")
            if token.text == "pragma":  # the old form: to the end of the line
                found.append(self._pragma(position))
            elif token.text in WITH_EXPRESSION:
                found.append(syntax.Annotation(position, token.text, []))
                if not self.accept("("):
                    raise P4Error(position, f"@{token.text} needs one argument")
                found[-1].expression = self.expression()
                self.expect(")", f"after the argument of @{token.text}")
            else:
                found.append(syntax.Annotation(position, token.text, self._annotation_body()))
        self.all_annotations += found
        return found

    def _pragma(self, position: Position) -> syntax.Annotation:
        name = "" if self.peek().first_on_line else self.take().text
        if name in WITH_EXPRESSION:
            if self.peek().first_on_line:
                raise P4Error(position, f"@{name} needs one argument")
            return syntax.Annotation(position, name, [], self.expression())
        arguments = []
        while not self.peek().first_on_line:
            arguments.append(self.take())
        return syntax.Annotation(position, name, arguments)

    def _annotation_body(self) -> list[Token]:
        closing = {"(": ")", "[": "]"}.get(self.peek().text)
        if closing is None or self.peek().kind is not Kind.PUNCTUATION:
            return []
        opening = self.take()
        body: list[Token] = []
        depth = 1
        while True:
            token = self.take()
            if token.kind is Kind.END:
                raise P4Error(opening.position, "this annotation is not closed")
            depth += (token.text == opening.text) - (token.text == closing)
            if depth == 0:
                return body
            body.append(token)

    # --- Statements -------------------------------------------------------------------------------

    def block(self) -> syntax.Block:
        opening = self.expect("{", "before a block")
        self.push_scope()
        statements: list[syntax.Statement] = []
        while not self.at("}"):
            if self.at_end():
                raise P4Error(opening.position, "this block is not closed; expected '}'")
            statements.append(self.statement())
        self.take()
        self.pop_scope()
        return syntax.Block(opening.position, statements)

    def statement(self) -> syntax.Statement:
        annotations = self.annotations()
        token = self.peek()
        if self.at("{"):
            return self.block()
        if self.at("if"):
            return self._if()
        if self.at("switch"):
            return self._switch()
        if self.at("for"):
            raise unsupported(token.position, "a for loop", "unrolled statements")
        if self.accept("return"):
            value = None if self.at(";") else self.expression()
            self.expect(";", "after return")
            return syntax.Return(token.position, value)
        if self.accept("exit"):
            self.expect(";", "after exit")
            return syntax.Exit(token.position)
        if self.accept(";"):
            return syntax.Empty(token.position)
        if self.at("const"):
            return self.constant()
        if self.at_type() and not self._type_is_callee():
            return self.variable_or_instance(annotations)
        return self._assignment_or_call()

    def _type_is_callee(self) -> bool:
        """`MyControl.apply(...)`: a type name, but no declaration."""
        return self.peek(1).text == "."

    def _if(self) -> syntax.If:
        position = self.take().position
        self.expect("(", "after if")
        condition = self.expression()
        self.expect(")", "after the condition")
        then = self.statement()
        otherwise = self.statement() if self.accept("else") else None
        return syntax.If(position, condition, then, otherwise)

    def _switch(self) -> syntax.Switch:
        position = self.take().position
        self.expect("(", "after switch")
        subject = self.expression()
        self.expect(")", "after the expression of switch")
        self.expect("{", "before the cases")
        cases: list[syntax.SwitchCase] = []
        while not self.accept("}"):
            start = self.position
            label = self.expression()
            self.expect(":", "after a case's label")
            body = self.block() if self.at("{") else None
            cases.append(syntax.SwitchCase(start, [label], body))
        return syntax.Switch(position, subject, cases)

    def _assignment_or_call(self) -> syntax.Statement:
        position = self.position
        target = self._postfix(self._primary())
        if self.accept(";"):
            if not isinstance(target, syntax.Call):
                raise P4Error(
                    position, "this expression is not a statement; expected an assignment or a call"
                )
            return syntax.CallStatement(position, target)
        token = self.peek()
        operator = _COMPOUND.get(token.text)
        if self.at_shift_right_assignment():
            self.take()
            operator = ">>"
        if operator is None and not self.at("="):
            raise P4Error(token.position, f"expected '=' or ';' after an expression, found {token}")
        self.take()
        value = self.expression()
        self.expect(";", "after an assignment")
        if operator is not None:
            value = syntax.Binary(token.position, operator, target, value)
        return syntax.Assignment(position, target, value)

    # --- Declarations among statements ------------------------------------------------------------

    def constant(self) -> syntax.Constant:
        position = self.take().position
        declared = self.type_syntax()
        name = self.name("a constant's name")
        self.expect("=", "after a constant's name")
        value = self.expression()
        self.expect(";", "after a constant")
        self.declare(name, is_type=False)
        return syntax.Constant(position, name, declared, value)

    def variable_or_instance(self, annotations: list[syntax.Annotation]) -> syntax.Statement:
        declared = self.type_syntax()
        if self.at("("):
            return self._instantiation(declared, annotations)
        position = self.position
        name = self.name("a variable's name")
        initializer = self.expression() if self.accept("=") else None
        self.expect(";", f"after the declaration of '{name}'")
        self.declare(name, is_type=False)
        return syntax.Variable(position, name, declared, initializer, annotations)

    def _instantiation(
        self, declared: syntax.TypeSyntax, annotations: list[syntax.Annotation]
    ) -> syntax.Instantiation:
        arguments = self.arguments()
        position = self.position
        name = self.name("an instance's name")
        self.declare(name, is_type=False)
        methods: list[syntax.Function] | None = None
        if self.accept("="):
            self.expect("{", "before an instance's methods")
            methods = []
            while not self.accept("}"):
                methods.append(self.function(self.annotations()))
        self.expect(";", f"after the instance '{name}'")
        return syntax.Instantiation(position, name, declared, arguments, annotations, methods)

    # --- Functions and parameters -----------------------------------------------------------------

    def type_parameters(self) -> list[str]:
        """`<T, U>`, declared as types in the current scope."""
        names: list[str] = []
        if self.accept("<"):
            while not self.at(">"):
                names.append(self.name("a type parameter"))
                self.declare(names[-1], is_type=True)
                if not self.accept(","):
                    break
            self.expect(">", "after type parameters")
        return names

    def parameters(self) -> list[syntax.Parameter]:
        self.expect("(", "before parameters")
        parameters: list[syntax.Parameter] = []
        while not self.at(")"):
            annotations = self.annotations()
            position = self.position
            direction = self.take().text if self.at("in", "out", "inout") else ""
            declared = self.type_syntax()
            name = self.name("a parameter's name")
            default = self.expression() if self.accept("=") else None
            self.declare(name, is_type=False)
            parameters.append(
                syntax.Parameter(position, direction, declared, name, default, annotations)
            )
            if not self.accept(","):
                break
        self.expect(")", "after parameters")
        return parameters

    def function(self, annotations: list[syntax.Annotation]) -> syntax.Function:
        """`R name<T>(parameters) { ... }`, or `;` instead of the body."""
        # The return type may be one of the type parameters, which come later.
        mark = self.mark()
        self.push_scope()
        self._declare_type_parameters_ahead()
        self.rewind(mark)
        returns = self.type_syntax()
        position = self.position
        name = self.name("a function's name")
        type_parameters = self.type_parameters()
        parameters = self.parameters()
        body = None if self.accept(";") else self.block()
        self.pop_scope()
        self.declare(name, is_type=False)
        return syntax.Function(
            position, name, returns, type_parameters, parameters, body, annotations
        )

    def _declare_type_parameters_ahead(self) -> None:
        """Finds `name<T, U>(` behind the return type and declares T and U."""
        while not self.at("(") and not self.at_end():
            token = self.take()
            if self.is_name(token) and self.at("<"):
                mark = self.mark()
                try:
                    self.take()
                    names = [self.name("a type parameter")]
                    while self.accept(","):
                        names.append(self.name("a type parameter"))
                    if self.accept(">") and self.at("("):
                        for name in names:
                            self.declare(name, is_type=True)
                        return
                except P4Error:
                    pass
                self.rewind(mark)
