import { type Script, startScriptedServer } from "./scripted-server.ts";
import { aClient } from "./test-client.ts";

type Fields = Readonly<Record<string, string>>;

/** A server with account 1; `update` decides what an update makes of its record. */
export async function startAccountServer(
  first: Fields,
  update: (before: Fields, fields: Fields, call: number) => Fields,
) {
  let record = first;
  let calls = 0;
  const script: Script = ({ path, query, body }) => {
    if (path === "user/get" && query["login"] !== "1") return JSON.stringify({ retcode: "13 Not found" });
    if (path === "user/update") {
      const fields = body === "" ? { Rights: query["rights"] ?? "" } : (JSON.parse(body) as Fields);
      record = update(record, fields, (calls += 1));
    } else if (path !== "user/get") return undefined;
    return JSON.stringify({ retcode: "0 Done", answer: record });
  };
  const server = await startScriptedServer(script);
  const client = aClient(server);
  return {
    client,
    record: () => record,
    calls: () => calls,
    async [Symbol.asyncDispose]() {
      client[Symbol.dispose]();
      await server[Symbol.asyncDispose]();
    },
  };
}
