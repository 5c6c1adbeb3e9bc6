import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { openApiDocument } from "../../../deploy/docs/openapi/document.ts";
import { DOCUMENTED_ROUTES } from "../../../services/edge/api/documented-routes.ts";
import { CHECKS } from "#catalogue/checks.ts";
import { PROBLEMS } from "../../../services/edge/problems/problems.ts";
import { findWords } from "#test/architecture/vocabulary.ts";

const ROOT = join(import.meta.dirname, "../../..");
const SERVICES = "services/{account,subscription,funding,fee,platform,kernel,edge}";

/** The banned words, and two that are banned in messages only. */
function bannedIn(text: string): string[] {
  return [...findWords("", text).map(({ word }) => word), ...(text.match(/\b(people|in the way)\b/i) ?? [])];
}

const LITERAL = /"(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`/;
/** Every function whose argument becomes the message of a refusal. */
const CALL =
  /\b(?:refuse\(\s*"[a-z_]+",|(?:accountBusy|platformUnavailable|actionNotPossible|reviewDecided|allocationInProgress|unfinished|malformedRequest)\(|unresolved\(\w+,)\s*/;
const REFUSALS = new RegExp(CALL.source + `(${LITERAL.source})`, "g");
const MESSAGES = /\bconst message =([^;]+);/g;
const FINDINGS = /\bmessage: ("(?:[^"\\]|\\.)*"|`(?:[^`\\]|\\.)*`)/g;

type Text = { readonly file: string; readonly text: string };

function sources(pattern: string): { file: string; source: string }[] {
  return globSync(pattern, { cwd: ROOT })
    .filter((file) => !/\.test\.ts$|\/testing\/|\/test-/.test(file))
    .map((file) => ({ file, source: readFileSync(join(ROOT, file), "utf8") }));
}

/** The literals without their quotes. A literal without a space is a code, not a text. */
function literals(file: string, part: string): Text[] {
  return [...part.matchAll(new RegExp(LITERAL.source, "g"))]
    .map(([quoted]) => ({ file, text: quoted.slice(1, -1) }))
    .filter(({ text }) => text.includes(" "));
}

function refusalTexts(): Text[] {
  return sources(`${SERVICES}/**/*.ts`).flatMap(({ file, source }) => [
    ...[...source.matchAll(REFUSALS)].flatMap(([, text = ""]) => literals(file, text)),
    // Other messages are errors at start.
    ...(source.includes("refuse(") ? [...source.matchAll(MESSAGES)] : []).flatMap(([, text = ""]) =>
      literals(file, text),
    ),
  ]);
}

function checkTexts(): Text[] {
  const breaks = sources("services/{subscription,funding,fee,platform}/checks/*.ts").flatMap(({ file, source }) =>
    [...source.matchAll(FINDINGS)].flatMap(([, text = ""]) => literals(file, text)),
  );
  return [...breaks, ...Object.entries(CHECKS).map(([file, { title: text }]) => ({ file, text }))];
}

/** A field error begins with the name of its field, which has an underscore or is followed by a verb of obligation. */
const isFieldError = (text: string): boolean => /^(\$\{field\}|[a-z_]+) (must|is required|does not|\$\{)/.test(text);
const isSentence = (text: string): boolean => /^([A-Z0-9'"]|\$\{)/.test(text) && text.endsWith(".");

test("the text of each refusal is a sentence in plain words", () => {
  const texts = refusalTexts();
  expect(texts.length).toBeGreaterThan(150);
  expect(texts.filter(({ text }) => !(isSentence(text) || (isFieldError(text) && text.endsWith("."))))).toEqual([]);
  expect(texts.filter(({ text }) => bannedIn(text).length > 0)).toEqual([]);
});

test("the texts of each check and its reconciliation breaks are sentences in plain words", () => {
  const texts = checkTexts();
  expect(texts.length).toBeGreaterThan(20);
  expect(texts.filter(({ text }) => !isSentence(text))).toEqual([]);
  expect(texts.filter(({ text }) => bannedIn(text).length > 0)).toEqual([]);
});

test("each problem title is a phrase in plain words", () => {
  const titles = Object.values(PROBLEMS).map(({ title }) => title);
  expect(titles.filter((title) => !/^[A-Z].*[^.]$/.test(title) || bannedIn(title).length > 0)).toEqual([]);
});

test("the OpenAPI document has no banned word, and each summary is a phrase", () => {
  const document = openApiDocument(DOCUMENTED_ROUTES) as {
    paths: Record<string, Record<string, { summary?: string }>>;
  };
  const { paths } = document;
  const summaries = Object.values(paths).flatMap((methods) => Object.values(methods).map(({ summary }) => summary));

  expect(bannedIn(JSON.stringify(document))).toEqual([]);
  expect(summaries.filter((summary) => summary === undefined || !/^[A-Z].*[^.]$/.test(summary))).toEqual([]);
});
