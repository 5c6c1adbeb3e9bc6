import { groupMask } from "../domain/group-mask.ts";
import { isStrongPassword } from "../domain/password.ts";
import type { TradeServer } from "../trade-server.ts";
import { readerOf, text } from "./body.ts";

const MAX_MASK_LENGTH = 255;

/** What the platform's administrator does: new sessions need the new password, and open ones go on. Until the simulator is started again. */
export function changeManager(server: TradeServer, body: unknown): object {
  const read = readerOf(body);
  const password = read.optional("password", "8 to 16 characters of four kinds", (value) =>
    typeof value === "string" && isStrongPassword(value) ? value : undefined,
  );
  const groups = read.optional("groups", "a mask of groups", text(MAX_MASK_LENGTH));
  read.finish();
  if (password !== undefined) server.managerPassword = password;
  if (groups !== undefined) server.isVisibleGroup = groupMask(groups);
  return {};
}
