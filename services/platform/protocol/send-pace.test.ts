import { expect, test } from "vitest";
import { sendPace } from "./send-pace.ts";

test.each([
  { what: "as on a slow platform before the first answer", answersMs: [], sends: 2 },
  { what: "at most eight", answersMs: Array<number>(50).fill(1), sends: 8 },
  {
    what: "as many as are written in a quarter of the time of a permit",
    answersMs: Array<number>(50).fill(90),
    sends: 5,
  },
  { what: "one while an answer takes longer than that", answersMs: Array<number>(50).fill(3_000), sends: 1 },
  { what: "nearly as many after one slow answer", answersMs: [...Array<number>(50).fill(5), 300], sends: 8 },
])("a session is given $what", ({ answersMs, sends }) => {
  const pace = sendPace();
  for (const ms of answersMs) pace.note(ms);
  expect(pace.sendsOfASession()).toBe(sends);
});
