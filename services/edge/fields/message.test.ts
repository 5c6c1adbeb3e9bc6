import { Type } from "typebox";
import { expect, test } from "vitest";
import {
  bool,
  choice,
  list,
  model,
  modelOrNull,
  named,
  nullableId,
  nullableString,
  read,
  string,
  text,
} from "./field.ts";
import { always, apart, at, messageOf, nested, ofWhole, or, within, withinOrNull } from "./message.ts";

const about = { description: "", example: "" };
const Part = model("Part", "", { short_name: string(about) });

test("a member of an answer is made of the member of its name in camel case, of the named one, or of the whole message", () => {
  const answer = model("Answer", "", {
    short_name: string(about),
    mt5_login: at("login", string(about)),
    engine: always(choice({ PAMM: "" }, about), "PAMM"),
    both: ofWhole(string(about), ({ a, b }: { a: string; b: string }) => `${a}-${b}`),
    state: named(choice({ open: "" }, about), { 1: "open" }),
    parts: list(Part, {}),
    part: modelOrNull(Part, ""),
  });
  const message = { shortName: "s", login: "7", a: "a", b: "b", state: 1, parts: [{ shortName: "p" }] } as const;

  expect(answer.of(message)).toEqual({
    short_name: "s",
    mt5_login: "7",
    engine: "PAMM",
    both: "a-b",
    state: "open",
    parts: [{ short_name: "p" }],
    part: null,
  });
  expect(() => answer.of({ ...message, state: 2 as 1 })).toThrow("the code 2 has no name");
  expect(JSON.stringify(answer)).not.toContain("~");
});

test("members of a nested message are null without it, or it is missing", () => {
  const members = { short_name: string(about), id: nullableId(about), note: nullableString(about) };
  const wrapped = model("Wrapped", "", within("part", members));
  const optional = model("Optional", "", withinOrNull("part", members));
  const part = { shortName: "p", id: 0n, note: "" };

  expect(wrapped.of({ part })).toEqual({ short_name: "p", id: null, note: null });
  expect(optional.of({})).toEqual({ short_name: null, id: null, note: null });
  expect(() => wrapped.of({})).toThrow("part is missing in the answer of a service");
});

test("a request becomes a message: absent fields are undefined or have their default, and some are in none", () => {
  const fields = {
    mt5_login: at("login", text("login", about)),
    min_number: Type.Optional(read(text("id", about), Number)),
    limit: or(read(text("limit_100", about), Number), 50),
    wait: apart(text("wait", about)),
    filter: nested({ is_open: bool(about) }, about),
  };

  expect(messageOf(fields, { mt5_login: "7", wait: "1", filter: { is_open: true } })).toEqual({
    login: "7",
    minNumber: undefined,
    limit: 50,
    filter: { isOpen: true },
  });
  expect(messageOf(fields, { mt5_login: "7", min_number: "3", limit: "9", filter: {} })).toMatchObject({
    minNumber: 3,
    limit: 9,
  });
});
