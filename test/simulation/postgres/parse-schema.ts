import type { ColumnDefinition, Definition, Constraint } from "./definitions.ts";
import { parseType } from "./parse-primary.ts";
import { parseAlone, parseQueryAlone } from "./parse-statement.ts";
import type { Expression } from "./syntax.ts";
import { Tokens } from "./tokens.ts";

/** Parses a whole migration. It fails on unknown statements, so that nothing is silently ignored. */
export function parseMigration(sql: string): readonly Definition[] {
  const tokens = new Tokens(sql);
  const definitions: Definition[] = [];
  while (tokens.peek().kind !== "end") {
    const definition = parseDefinition(tokens);
    if (definition !== undefined) definitions.push(definition);
    if (tokens.peek().kind !== "end") tokens.expect(";");
  }
  return definitions;
}

/** Undefined for what does not affect rows, for what triggers note for callers, and for first rows, which the world makes. */
function parseDefinition(tokens: Tokens): Definition | undefined {
  if (tokens.takes("create", "table")) return parseTable(tokens);
  if (tokens.takes("create", "unique", "index")) return parseIndex(tokens, true);
  if (tokens.takes("create", "index")) return parseIndex(tokens, false);
  if (tokens.takes("create", "view")) return parseView(tokens);
  if (tokens.takes("create", "sequence")) return parseSequence(tokens);
  if (tokens.takes("select", "append_only")) return parseAppendOnly(tokens);
  if (tokens.takes("create", "trigger")) {
    if (!tokens.name().startsWith("note_")) tokens.fail("a trigger is not simulated");
  } else if (!["create", "insert"].some((word) => tokens.sees(word))) tokens.fail("unknown definition");
  tokens.skipStatement();
  return undefined;
}

function parseTable(tokens: Tokens): Definition {
  const name = tokens.name();
  const columns: ColumnDefinition[] = [];
  const constraints: Constraint[] = [];
  tokens.inParentheses(() =>
    tokens.list(() => {
      const constraint = parseTableConstraint(tokens);
      if (constraint !== undefined) constraints.push(constraint);
      else columns.push(parseColumn(tokens, constraints));
    }),
  );
  tokens.skipStatement();
  return { kind: "table", name, columns, constraints };
}

function parseTableConstraint(tokens: Tokens): Constraint | undefined {
  const name = tokens.takes("constraint") ? tokens.name() : undefined;
  if (tokens.takes("primary", "key")) return { kind: "unique", name, isPrimary: true, columns: names(tokens) };
  if (tokens.takes("unique")) return { kind: "unique", name, isPrimary: false, columns: names(tokens) };
  if (tokens.takes("check")) return { kind: "check", name, condition: tokens.inParentheses(() => parseAlone(tokens)) };
  if (tokens.takes("foreign", "key")) {
    const columns = names(tokens);
    tokens.expect("references");
    return parseReference(tokens, name, columns);
  }
  return name === undefined ? undefined : tokens.fail("expected a constraint");
}

/** Constraints of a column become constraints of its table. */
function parseColumn(tokens: Tokens, constraints: Constraint[]): ColumnDefinition {
  const name = tokens.name();
  const column = { name, type: parseType(tokens), isNullable: true, isIdentity: false };
  let value: Expression | undefined;
  let generated: Expression | undefined;
  for (;;) {
    const own = tokens.takes("constraint") ? tokens.name() : undefined;
    if (tokens.takes("not", "null")) column.isNullable = false;
    else if (tokens.takes("default")) value = parseAlone(tokens);
    else if (tokens.takes("generated", "always", "as", "identity")) column.isIdentity = true;
    else if (tokens.takes("generated", "always", "as")) generated = parseGenerated(tokens);
    else if (tokens.takes("primary", "key")) {
      constraints.push({ kind: "unique", name: own, isPrimary: true, columns: [name] });
    } else if (tokens.takes("unique")) {
      constraints.push({ kind: "unique", name: own, isPrimary: false, columns: [name] });
    } else if (tokens.takes("check")) {
      constraints.push({ kind: "check", name: own, condition: tokens.inParentheses(() => parseAlone(tokens)) });
    } else if (tokens.takes("references")) constraints.push(parseReference(tokens, own, [name]));
    else return { ...column, default: value, generated };
  }
}

function parseGenerated(tokens: Tokens): Expression {
  const value = tokens.inParentheses(() => parseAlone(tokens));
  tokens.expect("stored");
  return value;
}

function parseReference(tokens: Tokens, name: string | undefined, columns: readonly string[]): Constraint {
  const table = tokens.name();
  const targets = tokens.sees("(") ? names(tokens) : undefined;
  // Rows of these tables are removed by retention, which is not simulated.
  tokens.takes("on", "delete", "cascade");
  const isDeferred = tokens.takes("deferrable", "initially", "deferred");
  return { kind: "references", name, columns, table, targets, isDeferred };
}

function parseIndex(tokens: Tokens, isUnique: boolean): Definition {
  const name = tokens.name();
  tokens.expect("on");
  const table = tokens.name();
  if (tokens.takes("using")) tokens.name();
  const on = tokens.inParentheses(() => tokens.list(() => parseIndexed(tokens)));
  // What a query could read from the index alone.
  if (tokens.takes("include")) names(tokens);
  if (tokens.takes("with")) tokens.inParentheses(() => tokens.list(() => parseAlone(tokens)));
  const where = tokens.takes("where") ? parseAlone(tokens) : undefined;
  return { kind: "index", isUnique, name, table, on, where };
}

function parseIndexed(tokens: Tokens): Expression {
  const expression = parseAlone(tokens);
  tokens.takes("desc");
  return expression;
}

function parseView(tokens: Tokens): Definition {
  const name = tokens.name();
  tokens.expect("as");
  return { kind: "view", name, query: parseQueryAlone(tokens) };
}

function parseSequence(tokens: Tokens): Definition {
  const name = tokens.name();
  tokens.skipStatement();
  return { kind: "sequence", name };
}

/** A migration calls one function: it forbids changes of rows. */
function parseAppendOnly(tokens: Tokens): Definition {
  return { kind: "append only", table: tokens.inParentheses(() => tokens.next().text) };
}

function names(tokens: Tokens): readonly string[] {
  return tokens.inParentheses(() => tokens.list(() => tokens.name()));
}
