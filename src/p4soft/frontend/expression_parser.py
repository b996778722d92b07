"""Types and expressions (P4-16 specification, grammar rules typeRef and expression)."""

from __future__ import annotations

from p4soft.errors import P4Error, unsupported
from p4soft.frontend import syntax
from p4soft.frontend.lexer import Kind
from p4soft.frontend.numbers import parse_integer
from p4soft.frontend.token_stream import BASE_TYPES, TokenStream

# Higher binds tighter; unlike in C, `&`, `^` and `|` bind tighter than comparisons. `>>` is made of
# two tokens and handled apart.
BINARY_PRECEDENCE = {
    "||": 1, "&&": 2, "==": 3, "!=": 3, "<": 4, ">": 4, "<=": 4, ">=": 4, "|": 5, "^": 6, "&": 7,
    "<<": 8, ">>": 8, "++": 9, "+": 9, "-": 9, "|+|": 9, "|-|": 9, "*": 10, "/": 10, "%": 10,
}  # fmt: skip


class ExpressionParser(TokenStream):
    # --- Types ------------------------------------------------------------------------------------

    def type_syntax(self) -> syntax.TypeSyntax:
        token = self.peek()
        if token.text in BASE_TYPES and token.kind is Kind.IDENTIFIER:
            base: syntax.TypeSyntax = self._base_type()
        elif token.text == "tuple":
            self.take()
            self.expect("<", "after tuple")
            base = syntax.TupleSyntax(token.position, self._type_list())
        elif token.text == "_":
            self.take()
            return syntax.DontCareType(token.position)
        elif self.is_name(token):
            if not self.is_type_name(token.text):
                raise P4Error(token.position, f"'{token.text}' is not the name of a type")
            self.take()
            arguments = self._type_list() if self.accept("<") else None
            base = syntax.NamedType(token.position, token.text, arguments)
        else:
            raise P4Error(token.position, f"expected a type, found {token}")
        while self.at("["):
            self.take()
            size = self.expression()
            self.expect("]", "after the size of a header stack")
            base = syntax.StackType(token.position, base, size)
        return base

    def _base_type(self) -> syntax.BaseType:
        token = self.take()
        width: syntax.Expression | None = None
        if token.text in ("bit", "int", "varbit") and self.accept("<"):
            if self.accept("("):
                width = self.expression()
                self.expect(")", "after the width")
            elif self.peek().kind is Kind.INTEGER:
                width = self._primary()
            else:
                width = syntax.Name(self.position, self.name("a width"))
            self.expect(">", f"after the width of {token.text}")
        elif token.text == "varbit":
            raise P4Error(token.position, "varbit needs a maximal width, for example varbit<320>")
        return syntax.BaseType(token.position, token.text, width)

    def _type_list(self) -> list[syntax.TypeSyntax]:
        """Type arguments; '<' is taken already."""
        arguments: list[syntax.TypeSyntax] = []
        if not self.at(">"):
            arguments.append(self.type_syntax())
            while self.accept(","):
                arguments.append(self.type_syntax())
        self.expect(">", "after type arguments")
        return arguments

    def _type_arguments_of_call(self) -> list[syntax.TypeSyntax] | None:
        """`<T, U>` if it is followed by '(', else nothing is taken: then '<' compares."""
        if not self.at("<"):
            return None
        mark = self.mark()
        self.take()
        try:
            arguments = self._type_list()
        except P4Error:
            self.rewind(mark)
            return None
        if self.at("("):
            return arguments
        self.rewind(mark)
        return None

    # --- Expressions ------------------------------------------------------------------------------

    def expression(self) -> syntax.Expression:
        condition = self._binary(0)
        if not self.at("?"):
            return condition
        position = self.take().position
        then = self.expression()
        self.expect(":", "in a conditional expression")
        return syntax.Conditional(position, condition, then, self.expression())

    def _binary(self, lowest: int) -> syntax.Expression:
        left = self._unary()
        while True:
            token = self.peek()
            operator = ">>" if self.at_shift_right() else token.text
            if token.kind is not Kind.PUNCTUATION or BINARY_PRECEDENCE.get(operator, 0) <= lowest:
                return left
            self.take()
            if operator == ">>":
                self.take()
            right = self._binary(BINARY_PRECEDENCE[operator])
            left = syntax.Binary(token.position, operator, left, right)

    def _unary(self) -> syntax.Expression:
        token = self.peek()
        if self.accept("!", "~", "-", "+"):
            return syntax.Unary(token.position, token.text, self._unary())
        if token.text == "(" and self._is_cast():
            self.take()
            target = self.type_syntax()
            self.expect(")", "after the type of a cast")
            return syntax.Cast(token.position, target, self._unary())
        return self._postfix(self._primary())

    def _is_cast(self) -> bool:
        mark = self.mark()
        self.take()
        if not self.at_type():
            self.rewind(mark)
            return False
        try:
            self.type_syntax()
            return self.at(")")
        except P4Error:
            return False
        finally:
            self.rewind(mark)

    def _primary(self) -> syntax.Expression:
        token = self.peek()
        if token.kind is Kind.INTEGER:
            self.take()
            number = parse_integer(token)
            literal = syntax.IntegerLiteral(
                token.position, number.value, number.width, number.signed
            )
            literal.base = number.base
            return literal
        if token.kind is Kind.STRING:
            self.take()
            return syntax.StringLiteral(token.position, token.text[1:-1])
        if self.accept("true", "false"):
            return syntax.BoolLiteral(token.position, token.text == "true")
        if self.accept("("):
            inner = self.expression()
            self.expect(")", "to close a parenthesis")
            return inner
        if self.at("{"):
            return self._braced()
        if self.accept("."):
            return syntax.Name(token.position, self.name("a name"), is_global=True)
        if self.accept("_", "default"):
            return syntax.DefaultExpression(token.position)
        if self.at("this"):
            raise unsupported(
                token.position, "'this'", "calling methods of other instances by name"
            )
        if self.at_type():
            return syntax.TypeExpression(token.position, self.type_syntax())
        if self.is_name(token):
            self.take()
            return syntax.Name(token.position, token.text)
        raise P4Error(token.position, f"expected an expression, found {token}")

    def _postfix(self, base: syntax.Expression) -> syntax.Expression:
        while True:
            token = self.peek()
            if self.accept("."):
                name_token = self.take()
                if name_token.kind is not Kind.IDENTIFIER:
                    raise P4Error(
                        name_token.position,
                        f"expected a member's name after '.', found {name_token}",
                    )
                base = syntax.Member(base.position, base, name_token.text, name_token.position)
            elif self.accept("["):
                base = self._index_or_slice(base)
            elif self.at("("):
                base = syntax.Call(base.position, base, None, self.arguments())
            elif isinstance(base, (syntax.Name, syntax.Member)) and token.text == "<":
                type_arguments = self._type_arguments_of_call()
                if type_arguments is None:
                    return base
                base = syntax.Call(base.position, base, type_arguments, self.arguments())
            else:
                return base

    def _index_or_slice(self, base: syntax.Expression) -> syntax.Expression:
        first = self.expression()
        if self.accept(":"):
            low = self.expression()
            self.expect("]", "after a slice")
            return syntax.Slice(base.position, base, first, low)
        self.expect("]", "after an index")
        return syntax.Index(base.position, base, first)

    def _braced(self) -> syntax.Expression:
        """`{a, b}` or `{x = a, y = b}`."""
        opening = self.expect("{", "before a list")
        if self.at("#", "..."):
            raise unsupported(
                self.position, f"'{{{self.peek().text}'", "lists and `name = value` lists"
            )
        named = self.is_name(self.peek()) and self.peek(1).text == "="
        items: list[syntax.Argument] = []
        while not self.at("}"):
            position = self.position
            name = None
            if named:
                name = self.name("a field")
                self.expect("=", "after a field's name")
            items.append(syntax.Argument(position, name, self.expression()))
            if not self.accept(","):
                break
        self.expect("}", "after a list")
        if named:
            return syntax.StructExpression(opening.position, items)
        return syntax.ListExpression(opening.position, [item.expression for item in items])

    def arguments(self) -> list[syntax.Argument]:
        self.expect("(", "before arguments")
        arguments: list[syntax.Argument] = []
        while not self.at(")"):
            position = self.position
            name = None
            if self.is_name(self.peek()) and self.peek(1).text == "=":
                name = self.name("a parameter")
                self.take()
            arguments.append(syntax.Argument(position, name, self.expression()))
            if not self.accept(","):
                break
        self.expect(")", "after arguments")
        return arguments

    # --- Key sets (select cases, table entries) ---------------------------------------------------

    def key_set(self) -> list[syntax.Expression]:
        """One element per key: `a`, or `(a, b &&& m, _)`."""
        if not self.at("("):
            return [self._key_element()]
        # `(a)` and `(a, b)` are tuples of keys; `(bit<8>) a` and `(a + b) * c` are expressions.
        mark = self.mark()
        if not self._is_cast():
            self.take()
            elements = [self._key_element()]
            while self.accept(","):
                elements.append(self._key_element())
            self.expect(")", "after a tuple of keys")
            if self.at(":"):
                return elements
            self.rewind(mark)
        return [self._key_element()]

    def _key_element(self) -> syntax.Expression:
        first = self.expression()
        position = self.position
        if self.accept("&&&"):
            return syntax.MaskExpression(position, first, self.expression())
        if self.accept(".."):
            return syntax.RangeExpression(position, first, self.expression())
        return first
