import { readFileSync } from "node:fs";

/** Words that must not be used, each with its replacement, and the paths in which one is allowed. */
export type Vocabulary = {
  readonly words: Readonly<Record<string, string>>;
  /** `path` is a file, or a folder when it ends with a slash. */
  readonly allowed: readonly { readonly path: string; readonly word: string; readonly reason: string }[];
};

export type Finding = { readonly path: string; readonly line: number; readonly word: string; readonly use: string };

export const VOCABULARY = JSON.parse(readFileSync(new URL("./vocabulary.json", import.meta.url), "utf8")) as Vocabulary;

/**
 * Finds whole words, also inside identifiers: `ringDoorbell`, `heeded_break` and `told-deal.ts` are each two or three words.
 * An entry of several words matches them in a row.
 */
export function findWords(path: string, text: string, vocabulary: Vocabulary = VOCABULARY): Finding[] {
  const banned = Object.entries(vocabulary.words)
    .map(([word, use]) => ({ word, use, parts: word.split(" ") }))
    .filter(({ word }) => !isAllowed(vocabulary, path, word));
  const byFirst = Map.groupBy(banned, ({ parts }) => parts[0]);
  const lines = [path, ...text.split("\n")];
  return lines.flatMap((content, line) => {
    const words = wordsOf(content);
    return words.flatMap((first, index) =>
      (byFirst.get(first) ?? [])
        .filter(({ parts }) => parts.every((part, offset) => words[index + offset] === part))
        // A word of the path is reported as of line 1.
        .map(({ word, use }) => ({ path, line: Math.max(line, 1), word, use })),
    );
  });
}

function isAllowed({ allowed }: Vocabulary, path: string, word: string): boolean {
  return allowed.some((entry) => {
    const isThere = entry.path.endsWith("/") ? path.startsWith(entry.path) : path === entry.path;
    return isThere && entry.word === word;
  });
}

const WORD = /[A-Z]+(?![a-z])|[A-Z]?[a-z]+(?:'[a-z]+)?/g;

function wordsOf(line: string): string[] {
  return [...line.matchAll(WORD)].map(([word]) => word.toLowerCase().replace(/'s$/, ""));
}
