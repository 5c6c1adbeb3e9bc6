import { expect, test } from "vitest";
import { findWords, type Vocabulary, VOCABULARY } from "./vocabulary.ts";

const SMALL: Vocabulary = {
  words: { wakeSignal: "wake-up signal", order: "transfer request", "in manual review": "in manual review" },
  allowed: [
    { path: "services/mail/", word: "wakeSignal", reason: "a church" },
    { path: "README.md", word: "order", reason: "a greeting" },
  ],
};

test.each([
  ["a word of a comment", "// rings the wake-up signal"],
  ["a word of an identifier in camel case", "const ringWakeSignal = 1;"],
  ["a word of a type", "type WakeSignalTower = 1;"],
  ["a word of a column", "wake_signal_rung_at timestamptz"],
  ["a constant", "const WAKE_SIGNAL_MS = 5;"],
  ["a possessive", "// the wake-up signal's sound"],
  ["kebab case", 'import "./wake-up signal-tower.ts";'],
])("%s is found", (_, text) => {
  expect(findWords("services/fee/a.ts", text, SMALL)).toEqual([
    { path: "services/fee/a.ts", line: 1, word: "wakeSignal", use: "wake-up signal" },
  ]);
});

test("several words in a row are found, in every spelling", () => {
  const text = "one\nit is in manual review\nbefore\npeople\nconst isBeforePeople = 1;";
  expect(findWords("a.ts", text, SMALL).map(({ line }) => line)).toEqual([2, 5]);
});

test("a file whose name is a banned word is found", () => {
  expect(findWords("services/fee/wakeSignal.ts", "", SMALL)).toMatchObject([{ line: 1, word: "wakeSignal" }]);
});

test("other words that contain one are not found", () => {
  expect(findWords("a.ts", "belly label wishful rebell", SMALL)).toEqual([]);
});

test("an allowed word is passed over in its file or folder, and nowhere else", () => {
  expect(findWords("services/mail/tower.ts", "wakeSignal", SMALL)).toEqual([]);
  expect(findWords("README.md", "order wake-up signal", SMALL)).toMatchObject([{ word: "wakeSignal" }]);
});

test("every entry says what to write instead, and every exception why and of which word", () => {
  const { words, allowed } = VOCABULARY;
  expect(Object.entries(words).filter(([word, use]) => !/^[a-z]+( [a-z]+)*$/.test(word) || use === "")).toEqual([]);
  expect(allowed.filter(({ path, word, reason }) => path === "" || !(word in words) || reason === "")).toEqual([]);
});
