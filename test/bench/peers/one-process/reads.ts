/**
 * A peer of the bench: Fastify, pg and the trading platform in one process, one statement for each read of the rows of the
 * service. It answers what the service answers, to the same API key.
 */
import Fastify from "fastify";
import { hash, timingSafeEqual } from "node:crypto";
import { Secret } from "#kernel/values/secret.ts";
import { createCredentialCipher } from "../../../../services/account/credential-cipher.ts";
import { rateText } from "../../../../services/edge/wire/number.ts";
import { nullableTimestamp, timestamp } from "../../../../services/edge/wire/timestamp.ts";
import { shownAt, type Version } from "../../../../services/fee/domain/timeline.ts";
import { openDeps, variable } from "../work/open.ts";

const { pool, platform } = openDeps();
const cipher = createCredentialCipher([new Secret(Buffer.from(variable("ENCRYPTION_KEY"), "base64"))]);
const digestOf = (key: string): Buffer => hash("sha256", key, "buffer");
const keyDigest = digestOf(variable("API_KEY"));
const app = Fastify();
type ByLogin = { Params: { login: string } };

app.get("/ready", () => ({ ready: true }));

app.addHook("onRequest", async ({ url, headers: { authorization = "" } }, reply) => {
  const isKnown = timingSafeEqual(digestOf(authorization.replace("Bearer ", "")), keyDigest);
  if (!isKnown && url !== "/ready") return reply.status(401).send();
});

app.get<ByLogin>("/balance/:login", async ({ params: { login } }) => {
  const { rowCount } = await pool.query({
    name: "account",
    text: "select login, kind from account.account where login = $1",
    values: [login],
  });
  const user = rowCount === 0 ? undefined : await platform.getUser(login);
  const balance = user === undefined ? null : Number(user.balanceMinor) / 100;
  return { mt5_login: login, balance, ok: user !== undefined, error: user === undefined ? "unknown login" : null };
});

app.get<ByLogin>("/investor/:login", async ({ id, ip, params: { login } }) => {
  const { rows } = await pool.query({
    name: "investor",
    text: `select investor.id::integer, investor.login, investor.name, investor.created_at, owner, field, key_id as "keyId", nonce,
                  ciphertext
           from account.investor
                left join account.provisioning on provisioning.login = investor.login and state = 'ACTIVE'
                left join account.credential on owner = 'account:investor:' || provisioning.id
           where investor.login = $1`,
    values: [login],
  });
  const [{ name, created_at: createdAt, id: investorId }] = rows;
  const passwordOf = (field: "main" | "investor"): string | null => {
    const credential = rows.find((row) => row.field === field);
    return credential === undefined ? null : cipher.decrypt(credential, { owner: credential.owner, field }).reveal();
  };
  const passwords = { mt5_password: passwordOf("main"), mt5_investor_password: passwordOf("investor") };
  // Durable before the passwords are returned.
  await pool.query({
    name: "audit",
    text: `insert into edge.access_audit (at, request_id, key_id, client, address, method, route, decision, status)
           values (now(), $1, 'peer', 'peer', $2, 'GET', '/investor/:login', 'allowed', 200)`,
    values: [id, ip],
  });
  return { id: investorId, mt5_login: login, name, ...passwords, created_at: timestamp(createdAt) };
});

app.get<ByLogin>("/subscriptions/:login", async ({ params: { login } }) => {
  const { rows } = await pool.query({
    name: "subscriptions",
    text: `select id::integer, status, started_at, ended_at, master_login, investor_login
           from subscription.subscription
           where investor_login = $1 and status in ('ACTIVE', 'PAUSED', 'CANCELLED')
           order by id
           limit 1001`,
    values: [login],
  });
  return rows.map(({ id, status, started_at: startedAt, ended_at: endedAt, ...logins }) => ({
    id,
    status,
    in_pool: status === "ACTIVE",
    started_at: timestamp(startedAt),
    ended_at: nullableTimestamp(endedAt ?? undefined),
    ...logins,
  }));
});

app.get<ByLogin>("/fee/:login", async ({ params: { login } }) => {
  const { rows } = await pool.query({
    name: "fee",
    text: `select investor_id::integer, investor_login, created_at, updated_at, rate_ppm as "ratePpm", effective_since as "effectiveSince",
                  enabled, enabled_from as "enabledFrom"
           from fee.fee_configuration
                join fee.fee_version using (investor_login)
           where investor_login = $1
           order by begins_at, fee_version.id`,
    values: [login],
  });
  const [{ investor_id, investor_login, created_at: createdAt, updated_at: updatedAt }] = rows;
  const { ratePpm, enabled, effectiveSince } = shownAt(rows as Version[], new Date())!;
  return {
    investor_id,
    investor_login,
    rate: rateText(ratePpm),
    enabled,
    effective_since: timestamp(effectiveSince),
    created_at: timestamp(createdAt),
    updated_at: timestamp(updatedAt),
  };
});

await app.listen({ host: "127.0.0.1", port: Number(variable("HTTP_PORT")) });
