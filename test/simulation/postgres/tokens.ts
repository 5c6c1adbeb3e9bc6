export type Token = {
  readonly kind: "word" | "quoted" | "number" | "text" | "param" | "symbol" | "end";
  /** Words in lower case, quoted names and texts without their quotes. */
  readonly text: string;
};

const END: Token = { kind: "end", text: "" };
const RULES: readonly [Token["kind"] | "space", RegExp][] = [
  ["space", /(?:\s+|--[^\n]*|\/\*[\s\S]*?\*\/)+/y],
  ["number", /\d+(?:\.\d+)?/y],
  ["param", /\$\d+/y],
  ["text", /\$\$[\s\S]*?\$\$/y],
  ["text", /'(?:[^']|'')*'/y],
  ["quoted", /"(?:[^"]|"")*"/y],
  ["word", /[A-Za-z_][A-Za-z0-9_]*/y],
  ["symbol", /<>|!=|<=|>=|\|\||::|->>|->|\?\||@>|[-+*/%=<>~()[\],.;]/y],
];

/** Reads the tokens of a SQL text one after the other; throws at a token that it does not expect. */
export class Tokens {
  readonly #tokens: readonly Token[];
  readonly #sql: string;
  #index = 0;

  constructor(sql: string) {
    this.#sql = sql;
    this.#tokens = tokenize(sql);
  }

  peek(ahead = 0): Token {
    return this.#tokens[this.#index + ahead] ?? END;
  }

  next(): Token {
    const token = this.peek();
    this.#index += 1;
    return token;
  }

  /** Whether these words or symbols come next. */
  sees(...expected: readonly string[]): boolean {
    return expected.every((text, ahead) => is(this.peek(ahead), text));
  }

  /** Takes these words when they come next. */
  takes(...expected: readonly string[]): boolean {
    if (!this.sees(...expected)) return false;
    this.#index += expected.length;
    return true;
  }

  expect(...expected: readonly string[]): void {
    if (!this.takes(...expected)) this.fail(`expected ${expected.join(" ")}`);
  }

  name(): string {
    const token = this.next();
    if (token.kind !== "word" && token.kind !== "quoted") this.fail(`expected a name, not ${token.text}`);
    return token.text;
  }

  /** Skips everything up to the next semicolon, for statements that are ignored here. */
  skipStatement(): void {
    while (this.peek().kind !== "end" && !this.sees(";")) this.next();
  }

  list<T>(one: () => T): T[] {
    const items = [one()];
    while (this.takes(",")) items.push(one());
    return items;
  }

  inParentheses<T>(inside: () => T): T {
    this.expect("(");
    const result = inside();
    this.expect(")");
    return result;
  }

  fail(problem: string): never {
    const before = this.#tokens.slice(Math.max(0, this.#index - 6), this.#index + 1).map(({ text }) => text);
    throw new Error(`the simulation cannot read this SQL: ${problem} near "${before.join(" ")}" in\n${this.#sql}`);
  }
}

function is(token: Token, text: string): boolean {
  return (token.kind === "word" || token.kind === "symbol") && token.text === text;
}

function tokenize(sql: string): Token[] {
  const tokens: Token[] = [];
  for (let at = 0; at < sql.length;) {
    const [kind, text] = match(sql, at);
    at += text.length;
    if (kind !== "space") tokens.push({ kind, text: plain(kind, text) });
  }
  return tokens;
}

function match(sql: string, at: number): readonly [Token["kind"] | "space", string] {
  for (const [kind, rule] of RULES) {
    rule.lastIndex = at;
    const text = rule.exec(sql)?.[0];
    if (text !== undefined) return [kind, text];
  }
  throw new Error(`the simulation cannot read this SQL at ${JSON.stringify(sql.slice(at, at + 20))}`);
}

function plain(kind: Token["kind"], text: string): string {
  switch (kind) {
    case "word":
      return text.toLowerCase();
    case "quoted":
      return text.slice(1, -1).replaceAll('""', '"');
    case "text":
      return text.startsWith("$$") ? text.slice(2, -2) : text.slice(1, -1).replaceAll("''", "'");
    case "param":
      return text.slice(1);
    default:
      return text;
  }
}
