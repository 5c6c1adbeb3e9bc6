import type { Deps } from "../deps.ts";
import { reportBooks } from "../processes/allocate/settle-books.ts";

/** Until the books are whole: looks again whether everything is imported, or commands are sent again. Reports books that lack nothing too. */
export async function settleDatabase(deps: Deps): Promise<boolean> {
  await reportBooks(deps);
  return false;
}
