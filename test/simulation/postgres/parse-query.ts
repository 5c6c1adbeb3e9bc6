import { parseExpression } from "./parse-expression.ts";
import { type Grammar, parseCall, parseOrderBy, startsQuery } from "./parse-primary.ts";
import type { Body, CommonTable, From, FromItem, Locking, Output, Query, Select, Statement } from "./syntax.ts";
import type { Tokens } from "./tokens.ts";

const LOCK_STRENGTHS: readonly (readonly [readonly string[], Locking["mode"]])[] = [
  [["for", "no", "key", "update"], "update"],
  [["for", "update"], "update"],
  [["for", "key", "share"], "share"],
  [["for", "share"], "share"],
];
/** Keywords that may follow a table, so they are not an alias. */
const NOT_AN_ALIAS = new Set(
  "from where join left inner cross on using group having order limit offset for union set returning as values select set do end then else when and or not as in is".split(
    " ",
  ),
);

/** A statement inside WITH may also change rows, so the parser of changes is passed in. */
export type StatementGrammar = Grammar & { readonly statement: () => Statement };

export function grammarOf(tokens: Tokens, statement: (grammar: StatementGrammar) => Statement): StatementGrammar {
  const grammar: StatementGrammar = {
    tokens,
    expression: () => parseExpression(grammar),
    query: () => parseQuery(grammar, parseWith(grammar)),
    statement: () => statement(grammar),
  };
  return grammar;
}

export function parseWith({ tokens, statement }: StatementGrammar): readonly CommonTable[] {
  if (!tokens.takes("with")) return [];
  return tokens.list(() => {
    const name = tokens.name();
    tokens.expect("as");
    tokens.takes("materialized");
    return { name, statement: tokens.inParentheses(statement) };
  });
}

export function parseQuery(grammar: Grammar, common: readonly CommonTable[]): Query {
  const { tokens } = grammar;
  const body = parseBody(grammar);
  const orderBy = parseOrderBy(grammar);
  const limit = tokens.takes("limit") ? grammar.expression() : undefined;
  return { kind: "query", with: common, body, orderBy, limit, locking: parseLocking(tokens) };
}

function parseLocking(tokens: Tokens): Locking | undefined {
  const strength = LOCK_STRENGTHS.find(([words]) => tokens.takes(...words));
  if (strength === undefined) return undefined;
  const of = tokens.takes("of") ? tokens.list(() => tokens.name()) : [];
  return { mode: strength[1], of, skipLocked: tokens.takes("skip", "locked") };
}

function parseBody(grammar: Grammar): Body {
  const { tokens } = grammar;
  let left = parseBodyPart(grammar);
  while (tokens.takes("union")) {
    const isAll = tokens.takes("all");
    left = { kind: "union", isAll, left, right: parseBodyPart(grammar) };
  }
  return left;
}

function parseBodyPart(grammar: Grammar): Body {
  const { tokens } = grammar;
  if (tokens.sees("(")) return tokens.inParentheses(() => parseBody(grammar));
  if (tokens.takes("values")) {
    return { kind: "values", rows: tokens.list(() => tokens.inParentheses(() => tokens.list(grammar.expression))) };
  }
  tokens.expect("select");
  return { kind: "select", select: parseSelect(grammar) };
}

function parseSelect(grammar: Grammar): Select {
  const { tokens, expression } = grammar;
  const distinct = parseDistinct(grammar);
  const hasOutputs = !tokens.sees("from") && !tokens.sees("where") && !tokens.sees(")") && tokens.peek().kind !== "end";
  return {
    distinct,
    outputs: hasOutputs ? tokens.list(() => parseOutput(grammar)) : [],
    from: tokens.takes("from") ? parseFrom(grammar) : [],
    where: tokens.takes("where") ? expression() : undefined,
    groupBy: tokens.takes("group", "by") ? tokens.list(expression) : [],
    having: tokens.takes("having") ? expression() : undefined,
  };
}

function parseDistinct({ tokens, expression }: Grammar): Select["distinct"] {
  if (!tokens.takes("distinct")) return "no";
  return tokens.takes("on") ? tokens.inParentheses(() => tokens.list(expression)) : "all";
}

export function parseOutput({ tokens, expression }: Grammar): Output {
  if (tokens.takes("*")) return { kind: "star", of: undefined };
  const isStarOf = tokens.peek(1).text === "." && tokens.peek(2).text === "*";
  if (isStarOf) {
    const of = tokens.name();
    tokens.expect(".", "*");
    return { kind: "star", of };
  }
  const value = expression();
  const as = tokens.takes("as") || isAlias(tokens) ? tokens.name() : undefined;
  return { kind: "value", value, as };
}

export function parseFrom(grammar: Grammar): readonly From[] {
  const { tokens } = grammar;
  const list: From[] = [parseFromItem(grammar, "inner")];
  for (;;) {
    if (tokens.takes(",") || tokens.takes("cross", "join")) list.push(parseFromItem(grammar, "inner"));
    else if (tokens.takes("join") || tokens.takes("inner", "join")) list.push(parseJoined(grammar, "inner"));
    else if (tokens.takes("left", "join") || tokens.takes("left", "outer", "join")) {
      list.push(parseJoined(grammar, "left"));
    } else return list;
  }
}

function parseJoined(grammar: Grammar, join: From["join"]): From {
  const { tokens, expression } = grammar;
  const item = parseFromItem(grammar, join);
  if (tokens.takes("using")) {
    return { ...item, using: tokens.inParentheses(() => tokens.list(() => tokens.name())) };
  }
  tokens.expect("on");
  return { ...item, on: expression() };
}

function parseFromItem(grammar: Grammar, join: From["join"]): From {
  const { tokens } = grammar;
  tokens.takes("lateral");
  const item = parseItem(grammar);
  const as = tokens.takes("as") || isAlias(tokens) ? tokens.name() : undefined;
  const hasColumns = as !== undefined && tokens.sees("(");
  const columns = hasColumns ? tokens.inParentheses(() => tokens.list(() => tokens.name())) : undefined;
  return { item, as, columns, join, on: undefined, using: [] };
}

function parseItem(grammar: Grammar): FromItem {
  const { tokens } = grammar;
  if (tokens.sees("(")) {
    return tokens.inParentheses(() => {
      if (!startsQuery(tokens)) tokens.fail("expected a query");
      return { kind: "query", query: grammar.query() };
    });
  }
  const name = tokens.name();
  if (!tokens.sees("(")) return { kind: "table", name };
  const call = parseCall(grammar, name);
  return { kind: "function", call, withOrdinality: tokens.takes("with", "ordinality") };
}

export function isAlias(tokens: Tokens): boolean {
  const { kind, text } = tokens.peek();
  return kind === "quoted" || (kind === "word" && !NOT_AN_ALIAS.has(text));
}
