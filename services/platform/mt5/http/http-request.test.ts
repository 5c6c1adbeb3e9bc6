import { expect, test } from "vitest";
import { Secret } from "#kernel/values/secret.ts";
import { createCookieJar } from "./cookie-jar.ts";
import { encodeRequest } from "./http-request.ts";

const head = { host: "mt5.example", cookie: undefined };

test("a command is a POST with everything in the query and an empty body", () => {
  const query = { login: "900101", balance: "-100.50", comment: "PD0F7K3M9Q2X1X a b" };
  expect(encodeRequest({ method: "POST", path: "trade/balance", query }, head).toString("utf8").split("\r\n")).toEqual([
    "POST /api/trade/balance?login=900101&balance=-100.50&comment=PD0F7K3M9Q2X1X%20a%20b HTTP/1.1",
    "Host: mt5.example",
    "User-Agent: pamm-integration-service",
    "Accept: application/json",
    "Accept-Encoding: identity",
    "Connection: keep-alive",
    "Content-Type: application/json",
    "Content-Length: 0",
    "",
    "",
  ]);
});

test("secrets are in the body, and its length is counted in bytes", () => {
  const body = { Login: "1", PassMain: new Secret("Zoë#1aaaa") };
  const text = encodeRequest({ method: "POST", path: "user/add", body }, { ...head, cookie: "sid=1" }).toString("utf8");
  expect(text).toContain("\r\nCookie: sid=1\r\n");
  expect(text).toContain("\r\nContent-Length: 37\r\n");
  expect(text).toMatch(/\r\n\r\n\{"Login":"1","PassMain":"Zoë#1aaaa"\}$/);
});

test("no value can end the request line or add a header", () => {
  const query = { comment: "a HTTP/1.1\r\nHost: evil\r\n\r\nGET /" };
  const lines = encodeRequest({ method: "GET", path: "user/get", query }, head).toString("utf8").split("\r\n");
  expect(lines).toHaveLength(8);
  expect(lines.filter((line) => line.startsWith("Host"))).toEqual(["Host: mt5.example"]);
});

test("cookies are kept, sent back, replaced by name, and dropped when the server expires them", () => {
  const jar = createCookieJar();
  expect(jar.header()).toBeUndefined();
  jar.keep(["sid=abc; Path=/; HttpOnly", "node=7"]);
  expect(jar.header()).toBe("sid=abc; node=7");
  jar.keep(["sid=def", "node=; Max-Age=0"]);
  expect(jar.header()).toBe("sid=def");
});

test("an invalid cookie is not kept, and the number of cookies is limited", () => {
  const jar = createCookieJar();
  jar.keep(["a=b\r\nX: y", "no-value", "=x", "a b=c", `long=${"x".repeat(5_000)}`]);
  expect(jar.header()).toBeUndefined();
  jar.keep(Array.from({ length: 100 }, (_, index) => `c${index}=1`));
  expect(jar.header()?.split("; ")).toHaveLength(16);
});
