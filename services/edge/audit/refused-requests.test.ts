import { expect, test } from "vitest";
import { refusedRequests } from "./refused-requests.ts";

test("refused requests of an address are recorded once a second after the first hundred", () => {
  let ms = 0;
  const isRecorded = refusedRequests(() => new Date(ms));
  const count = (address: string, times: number) =>
    Array.from({ length: times }, () => isRecorded(address)).filter(Boolean).length;

  expect(count("192.0.2.1", 1_000)).toBe(100);
  expect(count("192.0.2.2", 5)).toBe(5);
  ms += 3_000;
  expect(count("192.0.2.1", 1_000)).toBe(3);
});

test("an attack from many addresses leaves ten records a second", () => {
  let ms = 0;
  const isRecorded = refusedRequests(() => new Date(ms));
  const attack = () =>
    Array.from({ length: 5_000 }, (_, index) => isRecorded(`2001:db8::${index.toString(16)}`)).filter(Boolean).length;

  expect(attack()).toBe(1_000);
  ms += 10_000;
  expect(attack()).toBe(100);
});
