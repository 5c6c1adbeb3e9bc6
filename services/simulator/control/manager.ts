import { isStrongPassword } from "../domain/password.ts";
import type { TradeServer } from "../trade-server.ts";
import { readerOf } from "./body.ts";

/** What the platform's administrator does: new sessions need the new password, and open ones go on. Until the simulator is started again. */
export function changeManager(server: TradeServer, body: unknown): object {
  const read = readerOf(body);
  const password = read.required("password", "8 to 16 characters of four kinds", (value) =>
    typeof value === "string" && isStrongPassword(value) ? value : undefined,
  );
  read.finish();
  server.managerPassword = password;
  return {};
}
