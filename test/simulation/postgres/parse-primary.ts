import type { Branch, Call, Expression, Order, Query } from "./syntax.ts";
import type { Tokens } from "./tokens.ts";

/** An expression may contain a query, and a query contains expressions: their parsers call each other through this type. */
export type Grammar = {
  readonly tokens: Tokens;
  readonly expression: () => Expression;
  readonly query: () => Query;
};

const TYPE_WORDS = new Set(["timestamptz", "interval", "date"]);
const CONSTANTS = new Map<string, boolean | null>([
  ["true", true],
  ["false", false],
  ["null", null],
]);

export function parsePrimary(grammar: Grammar): Expression {
  const { tokens } = grammar;
  if (tokens.sees("(")) {
    return tokens.inParentheses(() => {
      if (startsQuery(tokens)) return { kind: "scalar", query: grammar.query() };
      const [only, ...more] = tokens.list(grammar.expression);
      return more.length === 0 ? only! : { kind: "row", items: [only!, ...more] };
    });
  }
  const token = tokens.peek();
  if (token.kind === "word") return parseWord(grammar, token.text);
  tokens.next();
  switch (token.kind) {
    case "quoted":
      return column(grammar, token.text);
    case "number":
      return token.text.includes(".") ? literal(Number(token.text), "numeric") : integer(token.text);
    case "text":
      return literal(token.text, "unknown");
    case "param":
      return { kind: "param", index: Number(token.text) - 1 };
    default:
      return tokens.fail("expected an expression");
  }
}

function parseWord(grammar: Grammar, word: string): Expression {
  const { tokens } = grammar;
  tokens.next();
  const constant = CONSTANTS.get(word);
  if (constant !== undefined) return literal(constant, constant === null ? "unknown" : "bool");
  if (word === "case") return parseCase(grammar);
  if (word === "exists") return { kind: "exists", query: tokens.inParentheses(grammar.query) };
  if (TYPE_WORDS.has(word) && tokens.peek().kind === "text") {
    return { kind: "cast", inner: literal(tokens.next().text, "unknown"), type: word };
  }
  if (word === "array" && tokens.takes("[")) {
    const items = tokens.sees("]") ? [] : tokens.list(() => grammar.expression());
    tokens.expect("]");
    return { kind: "array", items };
  }
  if (word === "extract" && tokens.takes("(")) {
    const field = literal(tokens.name(), "text");
    tokens.expect("from");
    const args = [field, grammar.expression()];
    tokens.expect(")");
    return { kind: "call", name: "extract", args, isDistinct: false, orderBy: [], filter: undefined, over: undefined };
  }
  return tokens.sees("(") ? parseCall(grammar, word) : column(grammar, word);
}

function column({ tokens }: Grammar, first: string): Expression {
  return tokens.takes(".")
    ? { kind: "column", of: first, name: tokens.name() }
    : { kind: "column", of: undefined, name: first };
}

function parseCase(grammar: Grammar): Expression {
  const { tokens } = grammar;
  const operand = tokens.sees("when") ? undefined : grammar.expression();
  const branches: Branch[] = [];
  while (tokens.takes("when")) {
    const condition = grammar.expression();
    tokens.expect("then");
    const when = operand === undefined ? condition : binary("=", operand, condition);
    branches.push({ when, result: grammar.expression() });
  }
  const otherwise = tokens.takes("else") ? grammar.expression() : undefined;
  tokens.expect("end");
  return { kind: "case", branches, otherwise };
}

export function parseCall(grammar: Grammar, name: string): Call {
  const { tokens } = grammar;
  tokens.expect("(");
  const isDistinct = tokens.takes("distinct");
  const hasNoArguments = tokens.takes("*") || tokens.sees(")");
  const args = hasNoArguments ? [] : tokens.list(() => grammar.expression());
  const orderBy = parseOrderBy(grammar);
  tokens.expect(")");
  const filter = tokens.takes("filter", "(", "where") ? grammar.expression() : undefined;
  if (filter !== undefined) tokens.expect(")");
  return { kind: "call", name, args, isDistinct, orderBy, filter, over: parseOver(grammar) };
}

function parseOver(grammar: Grammar): Call["over"] {
  const { tokens } = grammar;
  if (!tokens.takes("over")) return undefined;
  return tokens.inParentheses(() => ({
    partitionBy: tokens.takes("partition", "by") ? tokens.list(() => grammar.expression()) : [],
    orderBy: parseOrderBy(grammar),
  }));
}

export function parseOrderBy(grammar: Grammar): readonly Order[] {
  const { tokens } = grammar;
  if (!tokens.takes("order", "by")) return [];
  return tokens.list(() => {
    const by = grammar.expression();
    const isDescending = tokens.takes("desc");
    if (!isDescending) tokens.takes("asc");
    const nullsFirst = tokens.takes("nulls", "first") || (!tokens.takes("nulls", "last") && isDescending);
    return { by, isDescending, nullsFirst };
  });
}

/** The name of a type in one word, with [] for an array. */
export function parseType(tokens: Tokens): string {
  let name = tokens.name();
  if (name === "double") tokens.expect("precision");
  if (name === "timestamp") tokens.expect("with", "time", "zone");
  if (tokens.sees("(")) tokens.inParentheses(() => tokens.list(() => tokens.next()));
  while (tokens.takes("[", "]")) name += "[]";
  return name;
}

export function startsQuery(tokens: Tokens): boolean {
  return ["select", "with", "values"].some((word) => tokens.sees(word));
}

export function binary(operator: string, left: Expression, right: Expression): Expression {
  return { kind: "binary", operator, left, right };
}

function literal(value: string | bigint | number | boolean | null, type: string): Expression {
  return { kind: "literal", value, type };
}

function integer(text: string): Expression {
  const isSmall = text.length < 10;
  return isSmall ? literal(Number(text), "int4") : literal(BigInt(text), "int8");
}
