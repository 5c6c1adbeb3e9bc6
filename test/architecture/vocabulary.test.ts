import { expect, test } from "vitest";
import { findWords, type Vocabulary, VOCABULARY } from "./vocabulary.ts";

const SMALL: Vocabulary = {
  words: { bell: "wake-up signal", wish: "transfer request", "before people": "in manual review" },
  allowed: [
    { path: "services/mail/", word: "bell", reason: "the name of a device" },
    { path: "README.md", word: "wish", reason: "a quoted text" },
  ],
};

test.each([
  ["a word of a comment", "// rings the bell"],
  ["a word of an identifier in camel case", "const ringBell = 1;"],
  ["a word of a type", "type BellTower = 1;"],
  ["a word of a column", "bell_rung_at timestamptz"],
  ["a constant", "const BELL_MS = 5;"],
  ["a possessive", "// the bell's sound"],
  ["kebab case", 'import "./bell-tower.ts";'],
])("%s is found", (_, text) => {
  expect(findWords("services/fee/a.ts", text, SMALL)).toEqual([
    { path: "services/fee/a.ts", line: 1, word: "bell", use: "wake-up signal" },
  ]);
});

test("several words in a row are found, in every spelling", () => {
  const text = "one\nit is before people\nbefore\npeople\nconst isBeforePeople = 1;";
  expect(findWords("a.ts", text, SMALL).map(({ line }) => line)).toEqual([2, 5]);
});

test("a file whose name is a banned word is found", () => {
  expect(findWords("services/fee/bell.ts", "", SMALL)).toMatchObject([{ line: 1, word: "bell" }]);
});

test("other words that contain one are not found", () => {
  expect(findWords("a.ts", "belly label wishful rebell", SMALL)).toEqual([]);
});

test("an allowed word is not reported in its file or folder, but everywhere else", () => {
  expect(findWords("services/mail/tower.ts", "bell", SMALL)).toEqual([]);
  expect(findWords("README.md", "wish bell", SMALL)).toMatchObject([{ word: "bell" }]);
});

test("every entry has a replacement, and every exception a reason and a listed word", () => {
  const { words, allowed } = VOCABULARY;
  expect(Object.entries(words).filter(([word, use]) => !/^[a-z]+( [a-z]+)*$/.test(word) || use === "")).toEqual([]);
  expect(allowed.filter(({ path, word, reason }) => path === "" || !(word in words) || reason === "")).toEqual([]);
});
