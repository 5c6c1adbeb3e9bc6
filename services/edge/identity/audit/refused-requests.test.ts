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

test("the addresses of one network of IPv6 are one, and so are both forms of an IPv4 address", () => {
  const isRecorded = refusedRequests(() => new Date(0));
  const recorded = (addresses: readonly string[]) => addresses.filter((address) => isRecorded(address)).length;
  const times = (address: (index: number) => string) =>
    recorded(Array.from({ length: 150 }, (_, index) => address(index)));

  expect(times((index) => `2001:db8::${index.toString(16)}:1`)).toBe(100);
  expect(recorded(["2001:DB8:0:0:ffff::", "2001:db8:0:1::", "fe80::1%eth0"])).toBe(2);
  expect(times(() => "::ffff:192.0.2.1")).toBe(100);
  expect(recorded(["192.0.2.1", "::ffff:c000:201", "::ffff:192.0.2.2"])).toBe(1);
});

test("an attack from many addresses leaves ten records a second", () => {
  let ms = 0;
  const isRecorded = refusedRequests(() => new Date(ms));
  const attack = () =>
    Array.from({ length: 5_000 }, (_, index) => isRecorded(`2001:db8:0:${index.toString(16)}::1`)).filter(Boolean)
      .length;

  expect(attack()).toBe(1_000);
  ms += 10_000;
  expect(attack()).toBe(100);
});
