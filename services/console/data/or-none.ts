import { isProblem } from "../../client/index.ts";

/** Nothing is found when the problem is that there is none, or not any more. */
export async function orNone<T>(
  read: Promise<T>,
  code: "break_not_found" | "review_not_found",
): Promise<{ readonly found: T | undefined }> {
  try {
    return { found: await read };
  } catch (error) {
    if (isProblem(error, code)) return { found: undefined };
    throw error;
  }
}
