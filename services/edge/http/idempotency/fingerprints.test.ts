import { Type } from "typebox";
import { expect, test } from "vitest";
import { refuse } from "../../problems/refusals.ts";
import { isCommand, type Route } from "../route.ts";
import { DOCUMENTED_ROUTES } from "../../api/documented-routes.ts";
import type { DocumentedRoute } from "../../api/exchange.ts";
import { text } from "../../fields/field.ts";
import { testEdge } from "../../testing/test-edge.ts";
import { fingerprintOf } from "./fingerprint.ts";

/**
 * Requests by their fingerprints. LINES ARE ADDED, NEVER EDITED: keys are kept for months, and a request whose fingerprint changes is refused
 * when it is repeated, or its caller sends the money again under a new key. Requests with one fingerprint are one request; the last one of
 * each writes what the first leaves to the defaults. So a default never changes either: a request that leaves it out would mean something else.
 */
const RECORDED: Readonly<Record<string, readonly string[]>> = {
  fa4de8f3577c9571a9d0b1f63fb443373611989ae795821e0a868d67bd58eec9: [
    'POST master/create {"first_name":"Ada","last_name":"Lovelace","name":"Alpha","username":"ada@example.com","platform_group":"pamm\\\\master","min_deposit":"100.5"}',
    'POST master/create {"leverage":100,"min_deposit":100.50,"first_name":"Ada","last_name":"Lovelace","name":"Alpha","username":"ada@example.com","platform_group":"pamm\\\\master"}',
  ],
  f5b8f9fda9dc098bdbb6f3cf7dd042d326dc21c0bd737ae79af1ab589eeba976: [
    'POST master/create {"first_name":"Ada","last_name":"Lovelace","name":"Alpha","username":"ada@example.com","platform_group":"pamm\\\\master","min_deposit":"0","leverage":"500","strategy_name":"Alpha","strategy":"Trend following.","external_id":"CRM-7001","metadata":{"b":"2","a":"1"}}',
  ],
  "06a338717e87daa6603b17fd7daf87a201e7dead9d4d213cb23a0484c37e60b6": [
    'POST master/add {"mt5_login":"3000001","payment_account_login":"3000002","min_deposit":"100.50"}',
  ],
  "2ffd48fb28cf122013e64d6c69bda13b155d56604510b62a301e5e62e4661956": [
    'PATCH master/7 {"min_deposit":100.5}',
    'PATCH master/007 {"min_deposit":"100.50"}',
  ],
  "82de2cbe179f574a229c1f8aeeff0fff1d23f8eb17af4bff5360d11753607063": [
    'PATCH master/7 {"name":"Alpha","accepting_investors":true,"external_id":null,"metadata":{"segment":null}}',
  ],
  "3f5bb5e576553af103572528d7292c1b10a37b63bd331c95227d864d0b258c4e": ["POST master/7/close"],
  c695b765203458452c58c1cfe9c1c200b76b8273bd3205f4b1cc6be047ff2e0a: [
    'POST investor/create {"first_name":"Ada","last_name":"Lovelace","name":"Ada","username":"ada@example.com","platform_group":"pamm\\\\investor"}',
    'POST investor/create {"first_name":"Ada","last_name":"Lovelace","name":"Ada","username":"ada@example.com","platform_group":"pamm\\\\investor","leverage":"100"}',
  ],
  c289b71e58c64ee972a855e8fd5fb4776b10f94ebc6104a29fe94458355e2570: [
    'POST investor/add {"mt5_login":"3000003","name":"Ada"}',
  ],
  aead441db45b99af2ed1384f6da3c00a6aa4fd4cbf966f05d2c219d1cb0caa05: [
    'PATCH investor/8 {"email":"ada@example.com"}',
    'PATCH investor/8 {"email":"ada@example.com","metadata":{}}',
  ],
  "9c5c59c4032d6b1e065732329a20f814b161fbc2a8624ecf2457940c35c381a2": [
    'POST investor/assign {"master_login":"3000001","investor_login":"3000003","perf_fee":{"rate":0.3,"enabled":true}}',
    'POST investor/assign {"perf_fee":{"enabled":true,"rate":"0.300000"},"investor_login":"3000003","master_login":"3000001"}',
  ],
  a04f910403238a818ff6ce3a07ca61c9e2b8357dc717d7d2f1f22e1c51e35860: [
    "POST subscriptions/unassign?master_login=3000001&investor_login=3000003",
    "POST subscriptions/unassign?investor_login=3000003&master_login=3000001&on_blocked=refuse&expires_in=PT168H {}",
  ],
  d13bfe4d3e3b87f7c378f03ef501ef0e866e3859aca61dbd15babdbda5444109: [
    "POST subscriptions/unassign?master_login=3000001&investor_login=3000003&on_blocked=queue",
    "POST subscriptions/unassign?master_login=3000001&investor_login=3000003&on_blocked=queue&expires_in=P7D",
  ],
  "005de9e16ffed2405d4125ea8bb616334d8a4627c9992ccd9eb4c11e167f6b81": [
    "POST investor/deposit?login=3000003&amount=250.5",
    "POST investor/deposit?amount=0250.50&login=3000003&currency=USD&comment=API%20Deposit {}",
  ],
  "017a445c08eaecd45bc1cb0a8202bdddf9ef1e6ea6d8308f871e44dcfcc286c2": [
    'POST investor/deposit?login=3000003&amount=250.5&comment=CRM-2026-0001 {"external_id":"CRM-7001","metadata":{"segment":"retail","desk":"1"}}',
    'POST investor/deposit?login=3000003&amount=250.5&comment=CRM-2026-0001 {"metadata":{"desk":"1","segment":"retail"},"external_id":"CRM-7001"}',
  ],
  d449d0669cbeeea561dc9f9bb8ae2d617835a95959f9ab442eea4199c061a805: [
    "POST investor/withdraw?login=3000003&amount=50",
    "POST investor/withdraw?login=3000003&amount=50.00&currency=USD&comment=API%20Withdraw&on_blocked=refuse&expires_in=P7D",
  ],
  "45c2845165386fde68797fa2a43f5b6e48714c241970b9e976e957ab30c01ccd": [
    "POST investor/withdraw?login=3000003&amount=50&on_blocked=queue&expires_in=P1D",
    "POST investor/withdraw?login=3000003&amount=50&on_blocked=queue&expires_in=PT24H",
  ],
  "79ec52a123b711851f61c9eb21c9fc5bb830c45690b224652b9d431bcccd1803": [
    "DELETE operations/0198c0de-0000-7000-8000-000000000004",
  ],
  "50c3b5a4ea1e2973a030872b986d803189a7473d55def967cade2a17d26ad0bd": [
    'POST investor/perf-fee/update {"investor_login":"3000003","rate":0.25}',
    'POST investor/perf-fee/update {"investor_login":"3000003","rate":25e-2,"upsert":true}',
  ],
  "6b54b4d0db7fcdb9913de7d77b947ed09d7f74ec999a26f36f69c8e957d6bef2": [
    'POST investor/perf-fee/update {"investor_login":"3000003","enabled":false,"effective_since":"2026-01-02T03:04:05","upsert":false}',
    'POST investor/perf-fee/update {"investor_login":"3000003","enabled":false,"effective_since":"2026-01-02T05:04:05+02:00","upsert":false}',
  ],
  "37e8677c67552c7a57222030f024c0de1c9156034d42e6b7ff3de98a0618accb": [
    "DELETE investor/3000003/performance-fee/versions/17",
    "DELETE investor/3000003/performance-fee/versions/0017",
  ],
  d608b3ea72eb2484f9cc983f60ee0364499decdb6c5879abedf0f12415567ffa: [
    'POST ops/reviews {"id":"platform-17","action":"acknowledge","note":"Compared with the statement."}',
  ],
  "8488825c0ba2563e73f0ae4e71ded99a33168c44b3d45f4a683915e727a71636": [
    'POST ops/reviews {"id":"platform-17","action":"confirm_applied","deal_id":1234567,"note":"Compared with the statement."}',
  ],
  eaa53c357b4fc6d2f98c211e429a14db0472fa87c52be4aef02ee15a4db2681a: [
    'POST ops/review-groups {"group":"subscription-0123456789abcdef01234567","ids":"subscription-5,subscription-6","action":"adopt","note":"The dormant fee of January."}',
  ],
  "5e0d92f2b590fcaca9e24f997dfef8972c799fca375c4f6ebdbcf398adb7ac7d": ["POST ops/investors/3000003/erase"],
  "31712ab154447f9e1a683e897a3e2b5794845aa924774f263daf83afa4d58665": [
    'POST webhooks {"url":"https://crm.example.com/pamm/events"}',
    'POST webhooks {"url":"https://crm.example.com/pamm/events","types":"*"}',
  ],
  "902809f9e51ffc234454a3eb9f91d22592269808b53e0e6e04cc30a02b9887f3": ['PATCH webhooks/17 {"enabled":false}'],
  "4e481928948e40356c84c92d4b02d2cbc6128d1454b1d505ad6d43beef2b66f4": [
    'PATCH webhooks/17 {"types":"*","enabled":false}',
  ],
  c15faa600e124d8e358974781a7a5c1ffdde3c67ea0d2259f10ad9728551890c: ["DELETE webhooks/17"],
  "2c45a2dc03abb8b51f4208e8cf4818cd58c9caec513d38c88af726b045281d0c": ["POST webhooks/17/rotate"],
  "1be4a82d8c623aa623ef48ea4549810ffa9ec851bfa39b1666629db9baae4a3d": [
    "POST webhooks/17/replay?after=1000",
    "POST webhooks/17/replay?after=01000",
  ],
};

async function fingerprints() {
  const seen: string[] = [];
  const edge = await testEdge({
    app: {
      idempotency: {
        keptMs: 1,
        async claim({ fingerprint }) {
          seen.push(fingerprint.toString("hex"));
          throw refuse("operation_in_progress", "Seen.");
        },
        execute: (_claim, work) => work(),
      },
    },
  });
  return async (request: string) => {
    const [, method = "", url = "", payload] = /^(\w+) (\S+)(?: (.+))?$/.exec(request) ?? [];
    const headers = { "idempotency-key": "key-1", ...(payload && { "content-type": "application/json" }) };
    const answer = await edge.call({
      method,
      url: `/api/v1/${url}`,
      headers,
      ...(payload && { payload }),
    });
    return seen.pop() ?? answer.text;
  };
}

test("a request has the fingerprint that was recorded for it", async () => {
  const fingerprint = await fingerprints();
  const found: [string, string][] = [];
  for (const request of Object.values(RECORDED).flat()) found.push([await fingerprint(request), request]);

  expect(found).toEqual(
    Object.entries(RECORDED).flatMap(([hash, requests]) => requests.map((request) => [hash, request])),
  );
});

const commands = DOCUMENTED_ROUTES.filter(isCommand);

test("each command has a recorded fingerprint", () => {
  const recorded = Object.values(RECORDED).flat();
  const without = commands.filter(({ method, url }) => {
    const path = url.replace("/api/v1/", "").replaceAll(/:\w+/g, "[^/ ?]+");
    return !recorded.some((request) => new RegExp(`^${method} ${path}([ ?]|$)`).test(request));
  });

  expect(without.map(({ operationId }) => operationId)).toEqual([]);
});

const exampleOf = ({ exchanges: [{ request }] }: DocumentedRoute) => ({ params: {}, query: {}, body: {}, ...request });
const hashOf = (route: Route, request: { params: object; query: object; body: object }) =>
  fingerprintOf(route, request).toString("hex");

test.each(commands.map((route) => [route.operationId, route] as const))(
  "the fingerprint of %s is the same with each default written out, and when the route has one more optional parameter",
  (_, route) => {
    const request = exampleOf(route);
    for (const part of ["query", "body"] as const) {
      const { [part]: shape = Type.Object({}) } = route;
      const later = Type.Optional(text("name", { description: "", example: "", default: "as before" }));
      const extended = { ...route, [part]: Type.Object({ ...shape.properties, later }) };
      expect(hashOf(extended, request)).toBe(hashOf(route, request));
      expect(hashOf(extended, { ...request, [part]: { ...request[part], later: "other" } })).not.toBe(
        hashOf(route, request),
      );

      for (const [name, schema] of Object.entries<object>(shape.properties)) {
        if (!("default" in schema)) continue;
        const { [name]: _written, ...without } = request[part] as Record<string, unknown>;
        const written = { ...request, [part]: { ...without, [name]: schema.default } };
        expect(hashOf(route, written), name).toBe(hashOf(route, { ...request, [part]: without }));
      }
    }
  },
);

test("no parameter of a change has a default, because what is omitted keeps its value", () => {
  const changes = DOCUMENTED_ROUTES.filter(({ method }) => method === "PATCH");

  expect(
    changes.flatMap(({ body }) => Object.values(body?.properties ?? {})).filter((schema) => "default" in schema),
  ).toEqual([]);
});
