import { gzipSync } from "node:zlib";
import { expect, test } from "vitest";
import { anInvestor } from "../samples/account.ts";
import { aDeposit, aWithdrawal } from "../samples/funding.ts";
import { errorsOf, testEdge } from "../../testing/test-edge.ts";

const URL = "/api/v1/investor/deposit?login=1&amount=1";

/** Under each media type, and without one. */
const TYPES = [
  "application/json",
  "application/json; charset=utf-8",
  'application/json;charset="UTF-8"',
  "text/plain",
  "not a type at all",
  "application/x-www-form-urlencoded",
  undefined,
];
const ROUTES = [
  URL,
  "/api/v1/investor/withdraw?login=1&amount=1",
  "/api/v1/investor/withdraw/preview?login=1&amount=1",
  "/api/v1/subscriptions/unassign?master_login=3000001&investor_login=3000003",
];

async function anEdge() {
  const edge = await testEdge({
    funding: {
      deposit: async () => aDeposit(),
      withdraw: async () => aWithdrawal(),
    },
    subscriptions: { unassign: () => Promise.reject(new Error("only its request is looked at")) },
  });
  const send = async (payload: string | Buffer | undefined, type: string | undefined, url = URL) => {
    const headers = type === undefined ? {} : { "content-type": type };
    const answer = await edge.call({ method: "POST", url, ...(payload === undefined ? {} : { payload }), headers });
    return { ...answer, labels: (edge.calls.at(-1)?.request as { labels?: unknown } | undefined)?.labels };
  };
  return { edge, send };
}

const labelled = '{"external_id":"dep-77","metadata":{"desk":"Zürich"}}';
const MARK = "\u{feff}";

test("a JSON body labels a command, whatever its media type, also after a byte order mark", async () => {
  const { send } = await anEdge();
  const labels = { externalId: "dep-77", metadata: { desk: "Zürich" } };
  for (const type of TYPES) {
    for (const body of [labelled, MARK + labelled]) {
      expect(await send(body, type), type).toMatchObject({ status: 200, labels });
    }
  }
  for (const url of ROUTES.filter((route) => !route.includes("preview"))) {
    expect(await send(MARK + labelled, undefined, url), url).toMatchObject({ labels });
  }
  const ascii = Buffer.from('{"external_id":"dep-77"}');
  expect(await send(ascii, "application/json; charset=iso-8859-1")).toMatchObject({ labels: { externalId: "dep-77" } });
});

test("a byte order mark is skipped where the body is required, too", async () => {
  const edge = await testEdge({ accounts: { addInvestor: async () => anInvestor() } });
  const payload = `${MARK}{"mt5_login":"3000003","name":"Ada","external_id":"CRM-7"}`;
  const headers = { "content-type": "application/json" };
  const { status } = await edge.call({ method: "POST", url: "/api/v1/investor/add", payload, headers });
  expect([status, edge.calls.at(-1)?.request]).toMatchObject([200, { labels: { externalId: "CRM-7" } }]);
});

test("a body that says nothing is none", async () => {
  const { send } = await anEdge();
  for (const type of TYPES) {
    for (const body of [undefined, "", " \r\n", MARK, "{}", "[]", "null", '""', MARK + "{}"]) {
      expect(await send(body, type), body).toMatchObject({ status: 200, labels: undefined });
    }
  }
  expect(await send('{"login":"2","amount":"3"}', TYPES[0])).toMatchObject({ status: 200, labels: undefined });
});

test("a body that cannot be read is refused on every route, and nothing is executed", async () => {
  const { edge, send } = await anEdge();
  const utf16 = Buffer.from(MARK + labelled, "utf16le");
  const unreadable: [string | Buffer, string | undefined][] = [
    ['{"external_id":"dep-7', TYPES[0]],
    [`${MARK}{"external_id":"dep-7`, TYPES[0]],
    [MARK + MARK + labelled, TYPES[0]],
    [`${labelled}${labelled}`, TYPES[0]],
    [utf16, TYPES[0]],
    [utf16, "application/json; charset=utf-16"],
    [Buffer.from(utf16).swap16(), TYPES[0]],
    [Buffer.from(labelled, "utf16le"), TYPES[0]],
    [Buffer.from(labelled, "latin1"), TYPES[0]],
    [Buffer.from(labelled, "latin1"), "application/json; charset=iso-8859-1"],
    // Its bytes are UTF-8 of another text.
    ['{"external_id":"Ã©"}', "application/json; charset=iso-8859-1"],
    ["external_id=dep-77", "application/x-www-form-urlencoded"],
    ["<external_id>dep-77</external_id>", "application/xml"],
    ['{"external_id":"dep-7', "text/plain"],
    ['{"external_id":"dep-7', undefined],
    [utf16, undefined],
  ];
  for (const url of [...ROUTES, "/api/v1/investor/add"]) {
    for (const [body, type] of unreadable) {
      const answer = await send(body, type, url);
      const isJson = type?.startsWith("application/json") === true;
      const wanted = url.endsWith("/add") && !isJson ? [415, "unsupported_media_type"] : [400, "malformed_json"];
      const { code } = answer.body as { code: string };
      expect([answer.status, code], `${url} ${type} ${body.toString("latin1")}`).toEqual(wanted);
    }
  }
  const zipped = await edge.call({
    method: "POST",
    url: URL,
    payload: gzipSync(labelled),
    headers: { "content-type": "application/json", "content-encoding": "gzip" },
  });
  expect([zipped.status, zipped.body]).toMatchObject([415, { code: "unsupported_media_type" }]);
  for (const body of ['[{"external_id":"dep-77"}]', "7", '"external_id"']) {
    expect(errorsOf(await send(body, TYPES[0])), body).toEqual([["body", "wrong_type"]]);
  }
  expect(edge.calls).toEqual([]);
});

test("a member that is there twice is refused", async () => {
  const { send } = await anEdge();
  const twice = '{"external_id":"a","external_id":"b"}';
  expect(errorsOf(await send(twice, TYPES[0]))).toEqual([["external_id", "duplicate_member"]]);
});
