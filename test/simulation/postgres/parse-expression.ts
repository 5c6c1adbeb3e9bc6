import { binary, type Grammar, parsePrimary, parseType, startsQuery } from "./parse-primary.ts";
import type { Expression, Query } from "./syntax.ts";

const COMPARISONS = ["=", "<>", "!=", "<=", ">=", "<", ">", "~"];
const LITERALS = new Map<string, boolean | null>([
  ["true", true],
  ["false", false],
  ["null", null],
]);

export function parseExpression(grammar: Grammar): Expression {
  return parseOr(grammar);
}

function parseOr(grammar: Grammar): Expression {
  let left = parseAnd(grammar);
  while (grammar.tokens.takes("or")) left = binary("or", left, parseAnd(grammar));
  return left;
}

function parseAnd(grammar: Grammar): Expression {
  let left = parseNot(grammar);
  while (grammar.tokens.takes("and")) left = binary("and", left, parseNot(grammar));
  return left;
}

function parseNot(grammar: Grammar): Expression {
  return grammar.tokens.takes("not") ? { kind: "not", inner: parseNot(grammar) } : parsePredicate(grammar);
}

function parsePredicate(grammar: Grammar): Expression {
  let left = parseSum(grammar);
  for (;;) {
    const next = predicateAfter(grammar, left);
    if (next === undefined) return left;
    left = next;
  }
}

function predicateAfter(grammar: Grammar, left: Expression): Expression | undefined {
  const { tokens } = grammar;
  if (tokens.takes("is")) return parseIs(grammar, left);
  const isNegated = tokens.sees("not") && ["in", "between", "like"].includes(tokens.peek(1).text);
  if (isNegated) tokens.next();
  const wrap = (inner: Expression): Expression => (isNegated ? { kind: "not", inner } : inner);
  if (tokens.takes("in")) return wrap({ kind: "in", inner: left, among: parseAmong(grammar) });
  if (tokens.takes("like")) return wrap(binary("like", left, parseSum(grammar)));
  if (tokens.takes("between")) {
    const low = parseSum(grammar);
    tokens.expect("and");
    return wrap(binary("and", binary(">=", left, low), binary("<=", left, parseSum(grammar))));
  }
  const operator = COMPARISONS.find((symbol) => tokens.sees(symbol));
  if (operator === undefined) return undefined;
  tokens.next();
  return parseComparison(grammar, operator === "!=" ? "<>" : operator, left);
}

function parseComparison(grammar: Grammar, operator: string, left: Expression): Expression {
  const { tokens } = grammar;
  const quantifier = tokens.sees("any", "(") ? "any" : tokens.sees("all", "(") ? "all" : undefined;
  if (quantifier === undefined) return binary(operator, left, parseSum(grammar));
  tokens.next();
  const among = tokens.inParentheses(() => {
    // Any of an array of the rows is any of the rows.
    if (tokens.takes("array", "(")) {
      const query = grammar.query();
      tokens.expect(")");
      return query;
    }
    return startsQuery(tokens) ? grammar.query() : grammar.expression();
  });
  return { kind: "quantified", quantifier, operator, inner: left, among };
}

function parseIs(grammar: Grammar, inner: Expression): Expression {
  const { tokens } = grammar;
  const negated = tokens.takes("not");
  if (tokens.takes("distinct", "from")) {
    const operator = negated ? "is not distinct from" : "is distinct from";
    return binary(operator, inner, parseSum(grammar));
  }
  const what = LITERALS.get(tokens.next().text);
  if (what === undefined) return tokens.fail("expected null, true or false");
  return { kind: "is", inner, what, negated };
}

function parseAmong(grammar: Grammar): readonly Expression[] | Query {
  const { tokens } = grammar;
  return tokens.inParentheses(() =>
    startsQuery(tokens) ? grammar.query() : tokens.list(() => parseExpression(grammar)),
  );
}

function parseSum(grammar: Grammar): Expression {
  const { tokens } = grammar;
  let left = parseProduct(grammar);
  while (["+", "-", "||", "->", "->>", "?|", "@>"].some((symbol) => tokens.sees(symbol))) {
    left = binary(tokens.next().text, left, parseProduct(grammar));
  }
  return left;
}

function parseProduct(grammar: Grammar): Expression {
  const { tokens } = grammar;
  let left = parseUnary(grammar);
  while (["*", "/", "%"].some((symbol) => tokens.sees(symbol))) {
    left = binary(tokens.next().text, left, parseUnary(grammar));
  }
  return left;
}

function parseUnary(grammar: Grammar): Expression {
  if (grammar.tokens.takes("-")) return { kind: "negative", inner: parseUnary(grammar) };
  let inner = parsePrimary(grammar);
  while (grammar.tokens.takes("::")) inner = { kind: "cast", inner, type: parseType(grammar.tokens) };
  // The collation is ignored: text is always ordered by character codes here.
  if (grammar.tokens.takes("collate")) grammar.tokens.next();
  return inner;
}
