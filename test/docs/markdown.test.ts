import { expect, test } from "vitest";
import { anchorsOf, blocksOf, codeSpansOf, linksOf } from "./markdown.ts";

const PAGE = [
  "# Money, twice: `POST`",
  "",
  "See [keys](keys.md#scopes), [the web](https://example.com) and `make run`.",
  "",
  "<!-- run: system -->",
  "",
  "```sh",
  "curl a   # [not a](link)",
  "```",
  "",
  "```json",
  '{ "a": 1 }',
  "```",
].join("\n");

test("a block has its language, its line and the comment before it", () => {
  expect(blocksOf("page.md", PAGE)).toEqual([
    { file: "page.md", line: 7, language: "sh", text: "curl a   # [not a](link)", comment: "run: system" },
    { file: "page.md", line: 11, language: "json", text: '{ "a": 1 }', comment: undefined },
  ]);
});

test("only links outside of blocks to pages of the repository are found", () => {
  expect(linksOf("page.md", PAGE)).toEqual([{ file: "page.md", line: 3, target: "keys.md#scopes" }]);
});

test("headings have the anchors that GitHub gives them", () => {
  expect([...anchorsOf(PAGE)]).toEqual(["money-twice-post"]);
});

test("only code spans outside of blocks are found", () => {
  expect(codeSpansOf(PAGE)).toEqual(["POST", "make run"]);
});
