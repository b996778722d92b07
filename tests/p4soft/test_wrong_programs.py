"""Programs that must be refused, each with a message that says what and where.

`/*^*/` stands directly before the place the error must name.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from p4_programs import EGRESS, METADATA, PARSER, PREAMBLE, program
from refusals import check_refused, position_of_mark

from p4soft.cli import main, translate
from p4soft.errors import P4Error

TABLE = """
    action set(bit<8> v) { hdr.data.a = v; }
    action copy(inout bit<8> place) { place = 1; }
    table t {
        key = { hdr.data.kind: exact; }
        actions = { set; NoAction; }
        default_action = NoAction();
        %s
    }
"""


TERNARY = TABLE.replace("exact", "ternary")

# name: (program, part of the message)
CASES: dict[str, tuple[str, str]] = {
    # --- Priorities of entries
    "priority of a const entry": (
        program("t.apply();", local=TERNARY % "const entries = { /*^*/priority = 1: 1: set(1); }"),
        "const entries have no priorities: the first that matches wins; leave them out",
    ),
    "priority of an exact key": (
        program("t.apply();", local=TABLE % "entries = { /*^*/priority = 1: 1: set(1); }"),
        "entries of a table with exact keys have no priorities",
    ),
    "const of one entry": (
        program("t.apply();", local=TABLE % "entries = { /*^*/const 1: set(1); 2: set(2); }"),
        "const of one entry is not supported",
    ),
    "first entry without a priority": (
        program(
            "t.apply();", local=TERNARY % "entries = { /*^*/1: set(1); priority = 1: 2: set(1); }"
        ),
        "the first entry has no priority, and later ones have; give it one",
    ),
    "priority below zero": (
        program(
            "t.apply();", local=TERNARY % "entries = { priority = 0: 1: set(1); /*^*/2: set(1); }"
        ),
        "the priority of this entry is -1; expected 0 or more",
    ),
    "priority_delta of zero": (
        program("t.apply();", local=TERNARY % "priority_delta = /*^*/0;"),
        "priority_delta must be at least 1",
    ),
    "largest_priority_wins that is no bool": (
        program("t.apply();", local=TERNARY % "largest_priority_wins = /*^*/1;"),
        "largest_priority_wins is int; expected a constant, true or false",
    ),
    # --- Lexer and preprocessor
    "bad number": (program("hdr.data.a = /*^*/0b12;"), "'0b12' is not a number"),
    "division of a negative number": (
        program("hdr.data.a = (bit<8>) (-7 / 2);"),
        "'/' of -7 and 2; P4 has no division of negative numbers",
    ),
    "remainder by a negative number": (
        program("hdr.data.a = (bit<8>) (7 % -2);"),
        "'%' of 7 and -2; P4 has no division of negative numbers",
    ),
    "two registers of one name": (
        program(
            local="""
    Register<bit<8>, bit<8>>(4) cells;
    @name("cells") Register<bit<8>, bit<8>>(4) /*^*/others;
"""
        ),
        "the control plane calls this 'Ingress.cells', and so it does what is at ",
    ),
    "two keys of one name": (
        program(
            "t.apply();",
            local="""
    table t {
        key = { hdr.data.a: exact; /*^*/hdr.data.a: ternary; }
        actions = { NoAction; }
    }
""",
        ),
        "another key of table 't' is 'hdr.data.a' to the control plane",
    ),
    "two expressions as keys": (
        program(
            "t.apply();",
            local="""
    table t {
        key = { hdr.data.a + 1: exact; hdr.data.b + 1: exact; }
        actions = { NoAction; }
    }
""",
        ),
        "another key of table 't' is 'key' to the control plane",
    ),
    "two actions of one name": (
        program(
            "t.apply();",
            local="""
    action one() { hdr.data.a = 1; }
    @name("one") action other() { hdr.data.a = 2; }
    table t {
        key = { hdr.data.kind: exact; }
        actions = { one; /*^*/other; }
    }
""",
        ),
        "another action of table 't' is 'Ingress.one' to the control plane",
    ),
    "bool of two": (
        program("if (/*^*/(bool) 2) { hdr.data.a = 1; }"),
        "cannot cast 2 to bool; only 0 and 1 can be",
    ),
    "least of headers": (
        program("hdr.extra = /*^*/min(hdr.extra, hdr.extra);"),
        "min of extra_h; expected numbers",
    ),
    "number of too many digits": (
        program(f"hdr.data.c = /*^*/{'1' * 4097};"),
        "a number of 4097 digits; expected at most 4096",
    ),
    "width of too many digits": (
        program(f"hdr.data.c = /*^*/{'1' * 4301}w1;"),
        "a number of 4301 digits; expected at most 4096",
    ),
    "number of too many digits in a condition": (
        f"#if /*^*/{'1' * 4301}\n#endif\n",
        "a number of 4301 digits; expected at most 4096",
    ),
    "open comment": (program("/*^*//* no end "), "this comment does not end; expected '*/'"),
    "stray character": (program("hdr.data.a = /*^*/$;"), "expected an expression, found '$'"),
    "missing include": ('#include /*^*/"nothing.p4"\n', "cannot find 'nothing.p4'"),
    "other architecture": (
        "#include /*^*/<v1model.p4>\n",
        "it is another architecture's: expected a program for a",
    ),
    "error directive": ("#/*^*/error stop here\n", "#error stop here"),
    "if without endif": ("#/*^*/ifdef X\n", "this #if has no #endif"),
    "bound argument": (
        program(
            local="action a(inout bit<8> x, bit<8> n) { } table t { actions = { a(hdr.data.a); }"
            " default_action = a(/*^*/hdr.data.kind, 5); }"
        ),
        "the list of actions gives 'a' another argument here",
    ),
    "too few arguments": (
        program(
            local="action a(inout bit<8> x, in bit<8> y, bit<8> n) { } table t {"
            " actions = { a(hdr.data.a, 1); } default_action = /*^*/a(hdr.data.a, 1); }"
        ),
        "action 'a' needs an argument for 'n'",
    ),
    "argument of an extern without type parameters": (
        program(deparser_local="/*^*/Checksum<bit<16>>() sum;"),
        "'Checksum' takes 0 type arguments, 1 given; write Checksum without <...>",
    ),
    "include_next": ("#/*^*/include_next <x>\n", "#include_next is not supported by p4soft"),
    "macro arguments": (
        "#define TWICE(x) x + x\n" + program("hdr.data.a = /*^*/TWICE(1, 2);"),
        "macro TWICE takes 1 arguments, 2 given",
    ),
    "macro that stringizes": ("#define TEXT(x) /*^*/#x\n", "# in macros is not supported; ## is"),
    "paste without operand": (
        "#define GLUE(x) x /*^*/##\n",
        "## needs a token on both sides",
    ),
    "paste that makes no token": (
        "#define GLUE(x, y) x##y\n" + program("hdr.data.a = /*^*/GLUE(hdr, .);"),
        "## makes 'hdr.', which is not one token",
    ),
    "name that ends its string": (
        program(local='/*^*/@name("x\\"); f(); (\\"") ' + TABLE.strip() % ""),
        "@name needs one name in quotes",
    ),
    "name that is none": (
        program(local="/*^*/@name(\\) " + TABLE.strip() % ""),
        "@name needs one name in quotes",
    ),
    # --- Grammar
    "missing semicolon": (
        program("hdr.data.a = 1 /*^*/}"),
        "expected ';' after an assignment, found '}'",
    ),
    "broken declaration": (program(local="bit<8> x/*^*/(;"), "expected ';' after the declaration"),
    "not a statement": (program("/*^*/hdr.data.a;"), "this expression is not a statement"),
    "for loop": (program("/*^*/for (x in 1) {}"), "a for loop is not supported by p4soft"),
    "open block": ("struct s { bit<8> a; /*^*/", "expected a type, found the end of the file"),
    "unknown type": (program(local="/*^*/unknown_t x;"), "expected an action, a table, a variable"),
    "unknown type in struct": (
        "struct s { /*^*/unknown_t x; }",
        "'unknown_t' is not the name of a type",
    ),
    # --- Names
    "undeclared name": (
        program("/*^*/hdr2.data.a = 1;"),
        "'hdr2' is not declared; did you mean 'hdr'?",
    ),
    "no such field": (
        program("hdr.data./*^*/knid = 1;"),
        "data_h has no member 'knid'; did you mean 'kind'?",
    ),
    "declared twice": (program(local="bit<8> x; bit<16> /*^*/x;"), "'x' is declared already, at "),
    "no such enum member": (
        program(local="Hash<bit<16>>(HashAlgorithm_t./*^*/CRC33) h;"),
        "enum HashAlgorithm_t has no member 'CRC33'; did you mean 'CRC3",
    ),
    "no such state": (
        program(
            parser=PARSER.replace(
                "transition accept;", "transition select(hdr.data.kind) { /*^*/1: parse_x; }"
            )
        ),
        "state 'parse_x' is not declared",
    ),
    "no such method": (program("hdr.data./*^*/isvalid();"), "data_h has no method 'isvalid'"),
    # --- Types
    "width mismatch": (
        program("hdr.data.a = /*^*/hdr.data.b;"),
        "the value assigned is bit<16>, expected bit<8>",
    ),
    "operand widths": (
        program("hdr.data.a = hdr.data.a + /*^*/hdr.data.b;"),
        "the operands of '+' have different types, bit<8> and bit<16>; cast one of them",
    ),
    "condition is no bool": (
        program("if (/*^*/hdr.data.a) {}"),
        "the condition of if is bit<8>, expected bool",
    ),
    "slice outside": (
        program("hdr.data.a = /*^*/hdr.data.b[16:9];"),
        "slice [16:9] is outside bit<16>",
    ),
    "cast of sign and width": (
        program("hdr.data.b = (bit<16>)(/*^*/(int<16>) hdr.data.a);").replace(
            "(/*^*/(int", "(/*^*/(int"
        ),
        "cannot cast bit<8> to int<16>; change the width and the sign in two casts",
    ),
    "concatenation needs widths": (
        program("hdr.data.b = hdr.data.a ++ /*^*/1;"),
        "write the constant with a width",
    ),
    "enum member too large": (
        program(top="enum bit<8> kind_t { A = 255, B = /*^*/256 }\n"),
        "the value of 'B', 256, does not fit in bit<8>",
    ),
    "negative enum member": (
        program(top="enum bit<8> kind_t { A = /*^*/-1 }\n"),
        "the value of 'A', -1, does not fit in bit<8>",
    ),
    "wide bits": (
        program(local="/*^*/bit<129> x;"),
        "bit<129> is not supported by p4soft; supported: widths up to 128, and bit<4096>",
    ),
    "division at run time": (
        program("hdr.data.a = hdr.data.a /*^*// 2;"),
        "'/' at run time is not supported",
    ),
    "table applied twice": (
        program("t.apply(); /*^*/t.apply();", local=TABLE % ""),
        "a packet can pass table 't' here and at ",
    ),
    "table applied after a branch with it": (
        program(
            "if (hdr.data.b == 1) { t.apply(); } if (/*^*/t.apply().hit) { }", local=TABLE % ""
        ),
        "a packet can pass table 't' here and at ",
    ),
    "table of a control applied twice": (
        program(
            "part.apply(hdr); part.apply(hdr);",
            top="control Part(inout headers_t hdr) {"
            + TABLE % ""
            + "apply { /*^*/t.apply(); } }\n",
            local="    Part() part;",
        ),
        "a packet can pass table 't' here and at ",
    ),
    "multiplication at run time": (
        program("md.m8 = hdr.data.a /*^*/* md.m8;"),
        "'*' at run time is not supported by p4soft; supported: multiplication by a power of two",
    ),
    "multiplication by three": (
        program("hdr.data.b = 3 /*^*/* hdr.data.b;"),
        "'*' at run time is not supported",
    ),
    "compound multiplication": (
        program("hdr.data.b /*^*/*= hdr.extra.x;"),
        "'*' at run time is not supported",
    ),
    "shift by a field": (
        program("hdr.data.b = hdr.data.b << /*^*/hdr.data.a;"),
        "a shift by what is no constant is not supported by p4soft; supported: constant amounts",
    ),
    "division by zero": (program("hdr.data.a = 8 /*^*// 0;"), "the right operand of '/' is 0"),
    "negative shift": (
        program("hdr.data.a = hdr.data.a << /*^*/-1;"),
        "a shift needs a non-negative amount",
    ),
    "header not whole bytes": ("header /*^*/odd_h { bit<7> x; }", "header 'odd_h' has 7 bits"),
    "varbit field before others": (
        "header v_h { varbit<32> /*^*/x; bit<8> y; }",
        "a varbit field before others is not supported by p4soft; supported: one, at the end",
    ),
    "varbit field of a part of a byte": (
        "header v_h { varbit<33> /*^*/x; }",
        "a field of varbit<33>; Tofino's headers are whole bytes",
    ),
    "varbit field of a struct": (
        "struct v_t { varbit<32> /*^*/x; }",
        "a struct field of type varbit<32> is not allowed",
    ),
    "hash of a varbit field": (
        program(
            "hdr.data.b = h.get({/*^*/hdr.options});",
            top="",
            preamble=PREAMBLE + "header options_h { varbit<32> x; }\n",
            metadata=METADATA.replace("extra_h extra;", "options_h options;"),
            local="Hash<bit<16>>(HashAlgorithm_t.CRC16) h;",
        ),
        "header options_h here is not supported by p4soft; supported: headers without a varbit",
    ),
    "extract of a varbit field without its size": (
        program(
            preamble=PREAMBLE + "header options_h { varbit<32> x; }\n",
            metadata=METADATA.replace("extra_h extra;", "options_h options;"),
            parser=PARSER.replace("pkt.extract(hdr.data)", "/*^*/pkt.extract(hdr.options)"),
        ),
        "extract: header options_h needs the size of its varbit field",
    ),
    "generic struct": ("struct pair/*^*/<T> { T x; }", "a generic struct is not supported"),
    "residue that goes to no field": (
        program(
            parser_local="Checksum() sum;\nbit<16> x;",
            parser=PARSER.replace("transition", "sum.subtract_all_and_deposit(/*^*/x); transition"),
        ),
        "the residue of a checksum goes to a bit<16> of metadata or a header",
    ),
    "residue inside an expression": (
        program(
            parser_local="Checksum() sum;",
            parser=PARSER.replace("transition", "md.m16 = 16w1 + /*^*/sum.get(); transition"),
        ),
        "Checksum.get is known when the parser ends; expected an assignment of it alone",
    ),
    "residue behind another header": (
        program(
            parser_local="Checksum() sum;",
            parser=PARSER.replace(
                "transition",
                "pkt.extract(hdr.extra); sum.subtract({hdr.data.b}); md.m16 = /*^*/sum.get(); "
                "transition",
            ),
        ),
        "Checksum.get after a field of hdr.data was subtracted behind hdr.extra is not supported",
    ),
    "residue in a subparser": (
        program(
            top="parser Sub(packet_in pkt, inout metadata_t md) { Checksum() sum; state start { "
            "/*^*/sum.subtract_all_and_deposit(md.m16); transition accept; } }",
            parser_local="Sub() sub;",
            parser=PARSER.replace("transition", "sub.apply(pkt, md); transition"),
        ),
        "Checksum.subtract_all_and_deposit in a subparser is not supported",
    ),
    "extract of a fixed header with a size": (
        program(parser=PARSER.replace("pkt.extract(hdr.data)", "/*^*/pkt.extract(hdr.data, 32w8)")),
        "extract: header data_h has no varbit field",
    ),
    "lookahead of a signed number": (
        program(
            parser=PARSER.replace(
                "transition", "int<8> x = /*^*/pkt.lookahead<int<8>>(); transition"
            )
        ),
        "lookahead<int<8>> is not supported",
    ),
    "wide literal": (program("hdr.data.a = /*^*/200w1[7:0];"), "a literal of 200 bits is not"),
    "wide concatenation": (
        program("bit<8> x = (hdr.data.mac ++ hdr.data.mac /*^*/++ hdr.data.mac)[7:0];"),
        "a concatenation of 144 bits is not supported",
    ),
    "index at run time": (
        program(
            "hdr.s[/*^*/hdr.data.a].x = 1;",
            metadata=METADATA.replace("extra_h extra;", "extra_h[2] s;"),
        ),
        "a header stack's index that is no constant is not supported",
    ),
    "index outside a tuple": (
        program("tuple<bit<8>> t = {1}; hdr.data.a = t[/*^*/1];"),
        "index 1 is outside the tuple's 1 elements",
    ),
    "constant that is none": (
        program(local="const tuple<bit<8>, bit<8>> K = {1, /*^*/hdr.data.a};\n"),
        "the value of constant 'K' is not constant",
    ),
    "global name that is hidden": (
        program("hdr.data.a = /*^*/.K;", top="const bit<8> K = 1;", local="const bit<8> K = 2;"),
        "'.K' where another 'K' is declared",
    ),
    "global action that is hidden": (
        program(
            "t.apply();",
            top="action set(bit<8> v) { }",
            local=TABLE.replace("{ set;", "{ ./*^*/set;") % "",
        ),
        "'.set' where another 'set' is declared",
    ),
    "value set with a dot": (
        program(
            parser=PARSER.replace(
                "accept;", "select(hdr.data.kind) { /*^*/.kinds: accept; default: accept; }"
            ),
            parser_local="value_set<bit<8>>(2) kinds;",
        ),
        "'.kinds' is not declared at the top level",
    ),
    "global name that is none": (
        program("hdr.data.a = /*^*/.k;", local="const bit<8> k = 2;"),
        "'.k' is not declared at the top level",
    ),
    "default initializer": (
        program("extra_h e = {/*^*/...};"),
        "'{...' is not supported",
    ),
    "generic function": (
        program(top="void /*^*/f<T>(in T x) { }\n"),
        "a generic function is not supported",
    ),
    "generic control": (
        program(top="control /*^*/C<T>(inout T x) { apply { } }\n"),
        "the generic 'C' is not supported",
    ),
    "this": (
        program(
            local="Register<bit<8>, bit<8>>(4) r; RegisterAction<bit<8>, bit<8>, bit<8>>(r) up = {"
            " void apply(inout bit<8> value) { value = /*^*/this.predicate(); } };",
        ),
        "'this' is not supported",
    ),
    "header union": ("header_union /*^*/u { }", "header_union is not supported"),
    "stack of structs": (
        "struct s { bit<8> x; } struct t { /*^*/s[2] y; }",
        "a header stack of s; expected a header type",
    ),
    "list length": (
        program("hdr.extra = /*^*/{1, 2, 3};"),
        "the value assigned has 3 elements, extra_h has 2",
    ),
    "list shorter than a stack": (
        program("extra_h[3] list = /*^*/{{1, 2}, {3, 4}};"),
        "the initial value of 'list' has 2 elements, extra_h[3] has 3",
    ),
    # --- Places
    "assign to in": (program("/*^*/ig_intr_md.ingress_port = 1;"), "it is an 'in' parameter"),
    "assign to constant": (
        program("/*^*/K = 2;", top="const bit<8> K = 1;\n"),
        "cannot assign to 'K': it is a constant",
    ),
    "assign to action data": (
        program(local="action f(bit<8> v) { /*^*/v = 1; }"),
        "a parameter without direction, set by the control plane",
    ),
    "constant as out argument": (
        program("copy(/*^*/1);", local=TABLE % ""),
        "the argument for 'place' of action 'copy' is not a variable",
    ),
    # --- Calls
    "too many arguments": (
        program("/*^*/hdr.data.isValid(1);"),
        "isValid takes 0 arguments, 1 given",
    ),
    "missing argument": (
        program("/*^*/copy();", local=TABLE % ""),
        "action 'copy' needs an argument for 'place'",
    ),
    "unknown named argument": (
        program("copy(/*^*/plaec = hdr.data.a);", local=TABLE % ""),
        "has no parameter 'plaec'; did you mean 'place'?",
    ),
    "control applied in action": (
        program(local=TABLE % "" + "action f() { /*^*/t.apply(); }"),
        "an action cannot apply a table",
    ),
    # --- Tables
    "unknown match kind": (
        program(local="table t { key = { /*^*/hdr.data.a: exakt; } actions = { NoAction; } }"),
        "match kind 'exakt' is not declared; did you mean 'exact'?",
    ),
    "match kind of the program": (
        program(
            top="match_kind { fuzzy }\n",
            local="table t { key = { /*^*/hdr.data.a: fuzzy; } actions = { NoAction; } }",
        ),
        "match kind 'fuzzy' is not supported by p4soft; supported: exact, lpm",
    ),
    "wide range": (
        program(local="table t { key = { /*^*/hdr.data.c: range; } actions = { NoAction; } }"),
        "a range key of 32 bits; Tofino matches ranges of at most 20 bits",
    ),
    "two lpm keys": (
        program(
            local="table /*^*/t { key = { hdr.data.a: lpm; hdr.data.b: lpm; } "
            "actions = { NoAction; } }"
        ),
        "table 't' has 2 lpm keys",
    ),
    "unknown action": (
        program(local="table t { actions = { /*^*/sett; } }"),
        "'sett' is not declared",
    ),
    "default not listed": (
        program(
            local="action f() {} table t { actions = { f; } default_action = /*^*/NoAction(); }"
        ),
        "the default action 'NoAction' is not among the actions of 't': f",
    ),
    "table without a list of actions": (
        program(local="table /*^*/t { key = { hdr.data.kind: exact; } }"),
        "table 't' has no actions; expected a list of them, if only `actions = {}`",
    ),
    "default action of an empty list": (
        program(local="table t { actions = { } default_action = /*^*/NoAction; }"),
        "the default action 'NoAction' is not among the actions of 't': none",
    ),
    "names for some arguments": (
        program(
            "f(hdr.data.a, /*^*/y = 2);",
            top="void f(inout bit<8> x, in bit<8> y) { x = y; }\n",
        ),
        "has arguments with and without names; expected names for all or for none",
    ),
    "action data missing": (
        program(
            local="action f(bit<8> v) {} table t { actions = { f; } default_action = /*^*/f(); }"
        ),
        "action 'f' needs an argument for 'v'",
    ),
    "mask for an exact key": (
        program(local=TABLE % "const entries = { 1 /*^*/&&& 1: NoAction(); }"),
        "an exact key needs one value",
    ),
    "same entry twice": (
        program(local=TABLE % "const entries = { 1: NoAction(); /*^*/1: set(2); }"),
        "this entry has the same key as an earlier one",
    ),
    "too many entries": (
        program(
            "t.apply();",
            local=TABLE % "size = 1; const entries = { 1: NoAction(); /*^*/2: NoAction(); }",
        ),
        "table 't' has 2 entries, but its size is 1",
    ),
    "table without room": (
        program(local=TABLE % "size = /*^*/0;"),
        "the size of a table is 0; expected 1 to 4294967295",
    ),
    "table of too many entries": (
        program(local=TABLE % "size = /*^*/99999999999;"),
        "the size of a table is 99999999999; expected 1 to 4294967295",
    ),
    "constructor's size of too many entries": (
        program(
            "part.apply(hdr);",
            top="control Part(inout headers_t hdr)(bit<64> n) {"
            + TABLE % "size = /*^*/n;"
            + "apply { t.apply(); } }\n",
            local="    Part(64w99999999999) part;",
        ),
        "the size of a table is 99999999999; expected 1 to 4294967295",
    ),
    "size that is a bool": (
        program(
            "part.apply(hdr);",
            top="control Part(inout headers_t hdr)(bool n) {"
            + TABLE % "size = /*^*/n;"
            + "apply { t.apply(); } }\n",
            local="    Part(true) part;",
        ),
        "the size of a table is bool; expected bit<W> or int<W>",
    ),
    "size that is an enum": (
        program(local=TABLE % "size = /*^*/MeterType_t.BYTES;"),
        "the size of a table is MeterType_t; expected bit<W> or int<W>",
    ),
    "unknown property": (
        program(local=TABLE % "/*^*/psa_idle_timeout = true;"),
        "table property 'psa_idle_timeout' is not supported by p4soft; supported: key, actions",
    ),
    "case of no action": (
        program("switch (t.apply().action_run) { /*^*/copy: { } }", local=TABLE % ""),
        "this case is no action of table 't'; expected one of set, NoAction",
    ),
    # --- Externs
    "hash of many bits": (
        program(
            "hdr.data.mac = (bit<48>) /*^*/h.get({hdr.data.c});",
            local="Hash<bit<65>>(HashAlgorithm_t.CRC64) h;",
        ),
        "a hash of type bit<65> is not supported",
    ),
    "narrow polynomial": (
        program(
            local="CRCPolynomial<bit<7>>(7w9, false, false, false, 7w0, 7w0) /*^*/p;"
            "Hash<bit<7>>(HashAlgorithm_t.CUSTOM, p) h;"
        ),
        "a CRCPolynomial of bit<7> is not supported",
    ),
    "polynomial with msb": (
        program(
            local="CRCPolynomial<bit<8>>(8w7, false, true, false, 8w0, 8w0) /*^*/p;"
            "Hash<bit<4>>(HashAlgorithm_t.CUSTOM, p) h;"
        ),
        "a CRCPolynomial of bit<8> with msb for a Hash of another width is not supported",
    ),
    "signed random number": (
        program("hdr.data.a = (bit<8>) /*^*/r.get();", local="Random<int<8>>() r;"),
        "a Random of int<8> is not supported",
    ),
    "zeros_as_ones at run time": (
        program(
            deparser_local="Checksum() sum;",
            deparser="hdr.data.b = sum.update({hdr.data.c}, /*^*/md.flag); pkt.emit(hdr);",
        ),
        "zeros_as_ones that is no constant is not supported",
    ),
    "log of register accesses": (
        program(
            "hdr.data.a = /*^*/up.execute_log();",
            local="Register<bit<8>, bit<8>>(4) r; RegisterAction<bit<8>, bit<8>, bit<8>>(r) up = {"
            " void apply(inout bit<8> value, out bit<8> rv) { rv = value; } };",
        ),
        "RegisterAction.execute_log is not supported",
    ),
    "register action that returns an error": (
        program(
            local="Register<bit<8>, bit<8>>(4) r; RegisterAction<bit<8>, bit<8>, error>(r) /*^*/up"
            " = { void apply(inout bit<8> value, out error rv) { rv = error.NoError; } };",
        ),
        "a RegisterAction that returns error is not supported",
    ),
    "extern function": (
        program("/*^*/funnel_shift_right(hdr.data.b, hdr.data.b, hdr.data.b, 3);"),
        "the extern function funnel_shift_right is not supported",
    ),
    "invalidate of a field": (
        program("/*^*/invalidate(hdr.data.b);"),
        "invalidate of this field is not supported",
    ),
    "hash of an extern": (
        program("hdr.data.b = h.get({/*^*/h});", local="Hash<bit<16>>(HashAlgorithm_t.CRC16) h;"),
        "'h' as a value is not supported",
    ),
    "hash of an enum": (
        program(
            "hdr.data.b = h.get({/*^*/MeterType_t.BYTES});",
            local="Hash<bit<16>>(HashAlgorithm_t.CRC16) h;",
        ),
        "a value of type MeterType_t here is not supported",
    ),
    "emit of a list": (program(deparser="pkt.emit(/*^*/{hdr.data});"), "a list here is not"),
    "extern as a parameter": (
        program(
            "part.apply(hdr, h);",
            top="control Part(inout headers_t hdr, /*^*/Hash<bit<16>> h) { apply { } }\n",
            local="Hash<bit<16>>(HashAlgorithm_t.CRC16) h; Part() part;",
        ),
        "a parameter of type Hash<bit<16>> is not supported",
    ),
    "instance inside an expression": (
        program(deparser="hdr.data.b = /*^*/Checksum().update({hdr.data.c}); pkt.emit(hdr);"),
        "an instance made inside an expression is not supported",
    ),
    "instance as a value": (
        program(deparser="pkt.emit(/*^*/Checksum());"),
        "a new instance as a value is not supported",
    ),
    "default as a value": (
        program("hdr.data.a = /*^*/default;"),
        "this expression is not supported",
    ),
    "checksum of half a byte": (
        program(
            deparser_local="Checksum() sum;",
            deparser="hdr.data.b = sum.update(/*^*/{hdr.data.a[3:0]}); pkt.emit(hdr);",
        ),
        "these fields have 4 bits; expected whole bytes",
    ),
    "hash of a constant without width": (
        program("hdr.data.b = h.get({/*^*/5});", local="Hash<bit<16>>(HashAlgorithm_t.CRC16) h;"),
        "the width of this constant is not known here",
    ),
    "direct counter without table": (
        program(
            local="DirectCounter<bit<64>>(CounterType_t.PACKETS) /*^*/c;"
            "action count() { c.count(); } table t { actions = { count; } }"
        ),
        "'c' is attached to no table; write `counters = c;` in one",
    ),
    "direct counter outside its table": (
        program(
            "/*^*/c.count();",
            local="DirectCounter<bit<64>>(CounterType_t.PACKETS) c;" + TABLE % "counters = c;",
        ),
        "'c' belongs to table 't'; use it in an action of that table",
    ),
    "packet length": (
        program(parser=PARSER.replace("transition", "md.m32 = /*^*/pkt.length(); transition")),
        "packet_in.length is not supported by p4soft; supported: extract, advance, lookahead",
    ),
    "emit of a number": (
        program(deparser="pkt.emit(/*^*/hdr.data.a);"),
        "emit needs headers, not bit<8>",
    ),
    "verify in a control": (
        program("/*^*/verify(true, error.NoMatch);"),
        "verify belongs in a parser",
    ),
    # --- Parsers
    "no start state": (
        program(parser="    state begin { transition accept; }\n").replace(
            "parser Ingress", "parser /*^*/Ingress"
        ),
        "parser 'IngressParser' has no state 'start'",
    ),
    "advance by bits": (
        program(parser=PARSER.replace("pkt.extract(hdr.data)", "pkt.advance(/*^*/4)")),
        "advance(4) is not supported",
    ),
    "select with wrong number of keys": (
        program(
            parser=PARSER.replace(
                "transition accept;", "transition select(hdr.data.kind) { /*^*/(1, 2): accept; }"
            )
        ),
        "this case has 2 keys, select has 1",
    ),
    "wide port metadata": (
        program(
            top="struct port_t { bit<40> a; bit<25> b; }",
            parser=PARSER.replace(
                "pkt.advance(PORT_METADATA_SIZE);",
                "port_t port = /*^*/port_metadata_unpack<port_t>(pkt);",
            ),
        ),
        "port metadata of 72 bits, each field in whole bytes; Tofino has 64 for each port",
    ),
    "selector without an implementation": (
        program(
            "t.apply();",
            local="action a() {} table t { actions = { a; }"
            " key = { hdr.data.kind: exact; /*^*/hdr.data.b: selector; } }",
        ),
        "table 't' has a selector key; expected an ActionSelector as its implementation",
    ),
    "implementation without a selector key": (
        program(
            "t.apply();",
            local="ActionProfile(4) p; Hash<bit<16>>(HashAlgorithm_t.CRC16) h;"
            " ActionSelector(p, h, SelectorMode_t.FAIR, 4, 4) s; action a() {}"
            " table t { key = { hdr.data.kind: exact; } actions = { a; }"
            " /*^*/implementation = s; }",
        ),
        "table 't' has no selector key, by which an ActionSelector chooses",
    ),
    "implementation that is none": (
        program(
            "t.apply();",
            local="Counter<bit<32>, bit<8>>(4, CounterType_t.PACKETS) c; action a() {}"
            " table t { key = { hdr.data.kind: exact; } actions = { a; }"
            " implementation = /*^*/c; }",
        ),
        "expected a named ActionProfile or ActionSelector",
    ),
    "entries beside an implementation": (
        program(
            "t.apply();",
            local="ActionProfile(4) p; action a() {} table t { key = { hdr.data.kind: exact; }"
            " actions = { a; } /*^*/implementation = p; const entries = { 1: a(); } }",
        ),
        "entries of a table with an implementation is not supported",
    ),
    "profile of different actions": (
        program(
            "t.apply(); u.apply();",
            local="ActionProfile(4) /*^*/p; action a() {} action b() {}"
            " table t { key = { hdr.data.kind: exact; } actions = { a; } implementation = p; }"
            " table u { key = { hdr.data.kind: exact; } actions = { b; } implementation = p; }",
        ),
        "an ActionProfile of tables with different actions ('t' and 'u') is not supported",
    ),
    "profile of different scopes": (
        program(
            "t.apply(); u.apply();",
            local="ActionProfile(4) /*^*/p; action a() {} action b() {}"
            " table t { key = { hdr.data.kind: exact; } actions = { a; b; } implementation = p; }"
            " table u { key = { hdr.data.kind: exact; } actions = { a; @defaultonly b; }"
            " implementation = p; }",
        ),
        "supported: the same actions in the same order, with the same @tableonly and @defaultonly",
    ),
    "profile without a name": (
        program(
            "t.apply();",
            local="Hash<bit<16>>(HashAlgorithm_t.CRC16) h;"
            " ActionSelector(/*^*/ActionProfile(4), h, SelectorMode_t.FAIR, 4, 4) s; action a() {}"
            " table t { key = { hdr.data.kind: exact; hdr.data.b: selector; } actions = { a; }"
            " implementation = s; }",
        ),
        "an ActionProfile without a name is not supported",
    ),
    "selector of so many members": (
        program(
            "t.apply();",
            local="Hash<bit<16>>(HashAlgorithm_t.CRC16) h;"
            " ActionSelector(16, h, SelectorMode_t.FAIR) /*^*/s; action a() {}"
            " table t { key = { hdr.data.kind: exact; hdr.data.b: selector; } actions = { a; }"
            " implementation = s; }",
        ),
        "this constructor of ActionSelector is not supported",
    ),
    "two types of port metadata": (
        program(
            top="struct one_t { bit<8> a; }\nstruct other_t { bit<8> a; }",
            parser="""
    state start {
        pkt.extract(ig_intr_md);
        transition select(ig_intr_md.ingress_port) {
            1: first;
            default: second;
        }
    }
    state first {
        one_t port = port_metadata_unpack<one_t>(pkt);
        transition accept;
    }
    state second {
        other_t port = /*^*/port_metadata_unpack<other_t>(pkt);
        transition accept;
    }
""",
        ),
        "a second type of port metadata, other_t beside one_t is not supported",
    ),
    "port metadata that are no struct": (
        program(
            parser=PARSER.replace(
                "pkt.advance(PORT_METADATA_SIZE);",
                "bit<64> port = /*^*/port_metadata_unpack<bit<64>>(pkt);",
            ),
        ),
        "port metadata are bit<64>; expected a struct or header",
    ),
    "port metadata in the parser of egress": (
        program(
            top="struct port_t { bit<16> number; }",
            egress=EGRESS.replace(
                "pkt.extract(eg_intr_md);",
                "pkt.extract(eg_intr_md); port_t port = /*^*/port_metadata_unpack<port_t>(pkt);",
            ),
        ),
        "port_metadata_unpack belongs in the parser of ingress",
    ),
    "port metadata in a function": (
        program(
            top="struct port_t { bit<16> number; }\n"
            "port_t of(packet_in pkt) { return /*^*/port_metadata_unpack<port_t>(pkt); }\n",
            parser=PARSER.replace("pkt.advance(PORT_METADATA_SIZE);", "port_t port = of(pkt);"),
        ),
        "port_metadata_unpack belongs in the parser of ingress",
    ),
    "value set of headers": (
        program(parser_local="value_set<data_h>(4) /*^*/vs;"),
        "a value set of data_h; expected bit<W>",
    ),
    "value set without room": (
        program(parser_local="value_set<bit<8>>(/*^*/0) vs;"),
        "the size of a value set is 0; expected 1 to 4294967295",
    ),
    "value set of too many values": (
        program(parser_local="value_set<bit<8>>(/*^*/99999999999) vs;"),
        "the size of a value set is 99999999999; expected 1 to 4294967295",
    ),
    "value set of another type": (
        program(
            parser_local="value_set<bit<16>>(4) vs;",
            parser=PARSER.replace(
                "transition accept;", "transition select(hdr.data.kind) { /*^*/vs: accept; }"
            ),
        ),
        "value set 'vs' has values of (bit<16>); expected those of what is selected, (bit<8>)",
    ),
    "value set among keys": (
        program(
            parser_local="value_set<bit<8>>(4) vs;",
            parser=PARSER.replace(
                "transition accept;",
                "transition select(hdr.data.kind, hdr.data.b) { /*^*/(vs, 1): accept; }",
            ),
        ),
        "a value set among the keys of a case is not supported by p4soft",
    ),
    # --- Pipelines
    "no main": (PREAMBLE, "the program has no `main`"),
    "blocks in the wrong order": (
        program(
            blocks=(
                "Ingress",
                "IngressParser",
                "IngressDeparser",
                "NoEgressParser",
                "NoEgress",
                "NoEgressDeparser",
            )
        ).replace("Pipeline(Ing", "Pipeline(/*^*/Ing"),
        "'ingress_parser' of the pipeline is a control (Ingress), expected a parser",
    ),
    "headers differ": (
        program(
            egress=EGRESS.replace(
                "inout no_headers_t hdr, in no_metadata_t md",
                "inout headers_t hdr, in no_metadata_t md",
            )
        ).replace("NoEgressDeparser())", "/*^*/NoEgressDeparser())"),
        "NoEgressDeparser uses headers_t where an earlier block of the pipeline uses no_headers_t",
    ),
    "wrong direction": (
        program(
            egress=EGRESS.replace(
                "control NoEgressDeparser(packet_out pkt, inout no_headers_t hdr",
                "control NoEgressDeparser(packet_out pkt, /*^*/in no_headers_t hdr",
            )
        ),
        "parameter 'hdr' of NoEgressDeparser is 'in', expected 'inout'",
    ),
    "parsers per port": (
        program()
        .replace(
            "Pipeline(IngressParser(), Ingress(), IngressDeparser(), NoEgressParser(),",
            "IngressParsers(IngressParser()) prsr; EgressParsers(NoEgressParser()) eg_prsr;\n"
            "MultiParserPipeline(prsr, Ingress(), IngressDeparser(), eg_prsr,",
        )
        .replace("Switch(pipe) main", "MultiParserSwitch(pipe) /*^*/main"),
        "the package MultiParserSwitch as main is not supported",
    ),
    "setting enable_mcast_cutthru": (
        program("ig_tm_md./*^*/enable_mcast_cutthru = 1;"),
        "'enable_mcast_cutthru' of ingress_intrinsic_metadata_for_tm_t is not supported",
    ),
    "optional parameter of a constructor left out": (
        program(
            "sized.apply(hdr);",
            top="control Sized(inout headers_t hdr)(@optional bit<32> size) {\n"
            "    Register<bit<32>, bit<8>>(size) cells;\n"
            "    apply { }\n"
            "}\n",
            local="Sized() /*^*/sized;",
        ),
        "'Sized' has no value for its constructor's @optional parameter 'size'; give an argument",
    ),
    "optional parameter of a whole block left out": (
        program()
        .replace("ig_tm_md) {", "ig_tm_md)(@optional bit<1> bypass) {")
        .replace("bypass_egress = 1;", "bypass_egress = bypass;")
        .replace(" Ingress(),", " /*^*/Ingress(),"),
        "'Ingress' has no value for its constructor's @optional parameter 'bypass'",
    ),
}


SELECTOR = (
    "ActionSelector(ActionProfile(4), Hash<bit<8>>(HashAlgorithm_t.CRC8),"
    " SelectorMode_t.FAIR, 4, 4)"
)
# Everything of tna.p4 that p4soft does not translate: an instance is the error.
UNSUPPORTED_EXTERNS = {
    "SelectorAction": f"SelectorAction({SELECTOR}) /*^*/x;",
    "MathUnit": (
        "MathUnit<bit<32>>(false, 0, 0, {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}) /*^*/x;"
    ),
    "ParserCounter": "ParserCounter() /*^*/x;",
    "ParserPriority": "ParserPriority() /*^*/x;",
}


ALL_CASES = CASES | {
    name: (program(local=text), f"the extern {name} is not supported by p4soft; supported: ")
    for name, text in UNSUPPORTED_EXTERNS.items()
}


@pytest.mark.parametrize("name", ALL_CASES)
def test_wrong_program(name: str, tmp_path: Path) -> None:
    text, message = ALL_CASES[name]
    check_refused(text, message, tmp_path)


def test_base_program_is_right(tmp_path: Path) -> None:
    """Otherwise the cases above could fail for another reason than theirs."""
    path = tmp_path / "right.p4"
    path.write_text(
        program("hdr.data.a = 1;", local=TABLE % "size = 4; const entries = { 1: set(2); }")
    )
    translate(path, [], {})


def test_command_line_reports_and_fails(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "wrong.p4"
    path.write_text(PREAMBLE + METADATA + "control C() { apply { x = 1; } }\n")
    assert main([str(path), "--output", str(tmp_path / "out")]) == 1
    line = path.read_text().count("\n")
    assert capsys.readouterr().err == f"{path}:{line}:23: error: 'x' is not declared\n"
    assert not (tmp_path / "out").exists()


def test_unreadable_file_is_a_usage_error(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as ended:
        main([str(tmp_path / "none.p4"), "--output", str(tmp_path)])
    assert ended.value.code == 2
    assert f"there is no file {tmp_path}/none.p4; expected a program" in capsys.readouterr().err


@pytest.mark.parametrize("name", ['a"b', "a\\", "a\nb", "a\x01"])
def test_file_name_that_would_be_code_is_refused(
    name: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / f"{name}.p4"
    path.write_text(program())
    assert main([str(path), "--output", str(tmp_path / "out")]) == 1
    assert "no quotes, backslashes or control characters" in capsys.readouterr().err
    assert not (tmp_path / "out").exists()


def test_position_after_a_macro_is_that_of_its_use(tmp_path: Path) -> None:
    path = tmp_path / "wrong.p4"
    path.write_text("#define FIELD hdr.data.nothing\n" + program("hdr.data.a = /*^*/FIELD;"))
    with pytest.raises(P4Error) as error:
        translate(path, [], {})
    line, column = position_of_mark(path.read_text())
    assert str(error.value).startswith(f"{path}:{line}:{column}: ")


@pytest.mark.parametrize("length", range(0, 2200, 7))
def test_truncated_program_is_an_error_and_no_traceback(length: int, tmp_path: Path) -> None:
    text = program("hdr.data.a = 1;", local=TABLE % "size = 4;")
    path = tmp_path / "cut.p4"
    path.write_text(text[: len(text) - 20 - length])
    assert main([str(path), "--output", str(tmp_path / "out")]) == 1
