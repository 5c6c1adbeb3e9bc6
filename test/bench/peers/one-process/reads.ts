/** A peer of the bench: Fastify, pg and the trading platform in one process, reading the rows of the service. */
import Fastify from "fastify";
import { openDeps, variable } from "../work/open.ts";

const { pool, platform } = openDeps();
const app = Fastify();
type ByLogin = { Params: { login: string } };

app.get("/ready", () => ({ ready: true }));

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

app.get<ByLogin>("/investor/:login", async ({ params: { login } }) => {
  const { rows } = await pool.query({
    name: "investor",
    text: `select investor.id::text, investor.login, investor.name, investor.created_at, provisioning.id::text as owner
           from account.investor
           left join account.provisioning on provisioning.login = investor.login
           where investor.login = $1`,
    values: [login],
  });
  const { rows: credentials } = await pool.query({
    name: "credentials",
    text: "select field, key_id, nonce, ciphertext from account.credential where owner = $1",
    values: [`account:investor:${rows[0]?.owner}`],
  });
  return { ...rows[0], credentials: credentials.length };
});

app.get<ByLogin>("/subscriptions/:login", async ({ params: { login } }) => {
  const { rows } = await pool.query({
    name: "subscriptions",
    text: `select id::text, status, started_at, ended_at, master_login, investor_login
           from subscription.subscription
           where investor_login = $1 and status in ('ACTIVE', 'PAUSED', 'CANCELLED')
           order by id
           limit 100`,
    values: [login],
  });
  return rows;
});

app.get<ByLogin>("/fee/:login", async ({ params: { login } }) => {
  const { rows } = await pool.query({
    name: "fee-configuration",
    text: "select investor_login, investor_id::text, created_at, updated_at from fee.fee_configuration where investor_login = $1",
    values: [login],
  });
  const { rows: versions } = await pool.query({
    name: "fee-versions",
    text: `select rate_ppm, rate_from, enabled, enabled_from, effective_since
           from fee.fee_version
           where investor_login = $1
           order by id`,
    values: [login],
  });
  return { ...rows[0], versions };
});

await app.listen({ host: "127.0.0.1", port: Number(variable("HTTP_PORT")) });
