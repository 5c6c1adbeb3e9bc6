export type LoginRange = { readonly first: number; readonly last: number };

/** Where the server begins to choose by itself, so that its logins look like those of other examples. */
const FIRST_CHOICE = 900_101;

export function contains(range: LoginRange, login: number): boolean {
  return login >= range.first && login <= range.last;
}

/** The smallest candidate; used logins are skipped by the caller asking again with the next one. */
export function firstChoice(range: LoginRange): number {
  return contains(range, FIRST_CHOICE) ? FIRST_CHOICE : range.first;
}

/** The first free login of the server's range, from `from` on and outside the reserved one; undefined when none is left. */
export function nextFreeLogin(
  from: number,
  ranges: { readonly server: LoginRange; readonly reserved: LoginRange | undefined },
  isTaken: (login: number) => boolean,
): number | undefined {
  const { server, reserved } = ranges;
  let login = from;
  while (login <= server.last) {
    if (reserved !== undefined && contains(reserved, login)) login = reserved.last + 1;
    else if (isTaken(login)) login += 1;
    else return login;
  }
  return undefined;
}
