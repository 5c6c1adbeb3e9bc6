type Fetch = typeof globalThis.fetch;

/** What the client is made with: the key itself is added below. */
export const NO_KEY = "";

/** The only closure that holds the API key: requests of the client and of files go through it, and to this origin only. */
export function keyedFetch(origin: string, apiKey: string, fetch: Fetch = globalThis.fetch): Fetch {
  return async (target, init = {}) => {
    const url = target instanceof Request ? target.url : target;
    if (new URL(url, origin).origin !== origin) throw new TypeError("the key is sent to its own origin only");
    const headers = new Headers(init.headers);
    headers.set("authorization", `Bearer ${apiKey}`);
    // A redirect would take the key elsewhere.
    return await fetch(target, { ...init, headers, redirect: "manual" });
  };
}
