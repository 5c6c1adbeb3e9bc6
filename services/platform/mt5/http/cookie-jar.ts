/** Cookies of one session, never shared, because a server may bind its sessions to them. */
export type CookieJar = {
  readonly keep: (setCookies: readonly string[]) => void;
  /** Value of the Cookie header; undefined while there are no cookies. */
  readonly header: () => string | undefined;
};

/** A server or a load balancer sets one or two; the limits bound what a faulty one occupies. */
const MAX_COOKIES = 16;
const MAX_COOKIE_LENGTH = 4_096;
/** Name and value of a Set-Cookie header; attributes do not matter on one connection to one server. */
const SET_COOKIE = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+)=([\x21-\x3a\x3c-\x7e]*)[ \t]*(?:;(.*))?$/;

export function createCookieJar(): CookieJar {
  const cookies = new Map<string, string>();
  return {
    keep(setCookies) {
      for (const line of setCookies) {
        const [, name, value, attributes = ""] = line.length > MAX_COOKIE_LENGTH ? [] : (SET_COOKIE.exec(line) ?? []);
        if (name === undefined || value === undefined) continue;
        if (/(?:^|;)\s*max-age\s*=\s*(?:0|-\d+)\s*(?:;|$)/i.test(attributes)) cookies.delete(name);
        else if (cookies.has(name) || cookies.size < MAX_COOKIES) cookies.set(name, value);
      }
    },
    header() {
      return cookies.size === 0 ? undefined : Array.from(cookies, ([name, value]) => `${name}=${value}`).join("; ");
    },
  };
}
