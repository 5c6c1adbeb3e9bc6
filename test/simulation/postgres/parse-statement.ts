import {
  grammarOf,
  isAlias,
  parseFrom,
  parseOutput,
  parseQuery,
  parseWith,
  type StatementGrammar,
} from "./parse-query.ts";
import type {
  Assignment,
  CommonTable,
  Conflict,
  Delete,
  Expression,
  Insert,
  Output,
  Statement,
  Update,
} from "./syntax.ts";
import { Tokens } from "./tokens.ts";

export function parseStatement(sql: string): Statement {
  const tokens = new Tokens(sql);
  const statement = parseAny(grammarOf(tokens, parseAny));
  tokens.takes(";");
  if (tokens.peek().kind !== "end") tokens.fail("expected the end");
  return statement;
}

/** A separate expression: a check, a default, the condition of an index. */
export function parseAlone(tokens: Tokens): Expression {
  return grammarOf(tokens, parseAny).expression();
}

/** A query inside another statement: that of a view. */
export function parseQueryAlone(tokens: Tokens) {
  return grammarOf(tokens, parseAny).query();
}

function parseAny(grammar: StatementGrammar): Statement {
  const { tokens } = grammar;
  const common = parseWith(grammar);
  if (tokens.takes("insert", "into")) return parseInsert(grammar, common);
  if (tokens.takes("update")) return parseUpdate(grammar, common);
  if (tokens.takes("delete", "from")) return parseDelete(grammar, common);
  return parseQuery(grammar, common);
}

function parseInsert(grammar: StatementGrammar, common: readonly CommonTable[]): Insert {
  const { tokens } = grammar;
  const table = tokens.name();
  const columns = tokens.sees("(") ? tokens.inParentheses(() => tokens.list(() => tokens.name())) : undefined;
  const source = tokens.takes("default", "values") ? undefined : grammar.query();
  const conflict = parseConflict(grammar);
  return { kind: "insert", with: common, table, columns, source, conflict, returning: parseReturning(grammar) };
}

function parseConflict(grammar: StatementGrammar): Conflict | undefined {
  const { tokens } = grammar;
  if (!tokens.takes("on", "conflict")) return undefined;
  const columns = tokens.sees("(") ? tokens.inParentheses(() => tokens.list(() => tokens.name())) : undefined;
  // Postgres needs the condition to find a partial index; here the columns are enough.
  if (columns !== undefined && tokens.takes("where")) grammar.expression();
  tokens.expect("do");
  if (tokens.takes("nothing")) return { columns, update: undefined };
  tokens.expect("update", "set");
  const set = parseSet(grammar);
  return { columns, update: { set, where: parseWhere(grammar) } };
}

function parseUpdate(grammar: StatementGrammar, common: readonly CommonTable[]): Update {
  const { tokens } = grammar;
  const { table, as } = parseTarget(grammar);
  tokens.expect("set");
  const set = parseSet(grammar);
  const from = tokens.takes("from") ? parseFrom(grammar) : [];
  const where = parseWhere(grammar);
  return { kind: "update", with: common, table, as, set, from, where, returning: parseReturning(grammar) };
}

function parseDelete(grammar: StatementGrammar, common: readonly CommonTable[]): Delete {
  const { table, as } = parseTarget(grammar);
  const from = grammar.tokens.takes("using") ? parseFrom(grammar) : [];
  const where = parseWhere(grammar);
  return { kind: "delete", with: common, table, as, from, where, returning: parseReturning(grammar) };
}

function parseTarget({ tokens }: StatementGrammar): { readonly table: string; readonly as: string } {
  const table = tokens.name();
  return { table, as: tokens.takes("as") || isAlias(tokens) ? tokens.name() : table };
}

function parseSet({ tokens, expression }: StatementGrammar): readonly Assignment[] {
  return tokens.list(() => {
    const column = tokens.name();
    tokens.expect("=");
    return { column, value: expression() };
  });
}

function parseWhere({ tokens, expression }: StatementGrammar): Expression | undefined {
  return tokens.takes("where") ? expression() : undefined;
}

function parseReturning(grammar: StatementGrammar): readonly Output[] {
  const { tokens } = grammar;
  return tokens.takes("returning") ? tokens.list(() => parseOutput(grammar)) : [];
}
