import { lookup as resolve, type LookupAddress } from "node:dns";
import { isIP, type LookupFunction } from "node:net";
import { allows } from "../../identity/keys/addresses.ts";

/** IPv4 networks that are not the public internet (RFC 6890). */
const isReserved = allows([
  "0.0.0.0/8",
  "10.0.0.0/8",
  "100.64.0.0/10",
  "127.0.0.0/8",
  "169.254.0.0/16",
  "172.16.0.0/12",
  "192.0.0.0/24",
  "192.0.2.0/24",
  "192.88.99.0/24",
  "192.168.0.0/16",
  "198.18.0.0/15",
  "198.51.100.0/24",
  "203.0.113.0/24",
  "224.0.0.0/3",
]);
/** Of IPv6 only global unicast is public, without documentation and the tunnels that carry IPv4 addresses. */
const isGlobal = allows(["2000::/3"]);
const isNotGlobal = allows(["2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"]);

export function isPublicAddress(address: string): boolean {
  return isIP(address) === 4 ? !isReserved(address) : isGlobal(address) && !isNotGlobal(address);
}

export class AddressNotAllowed extends Error {
  override readonly name = "AddressNotAllowed";
}

/** The address of a URL that has one instead of a name. */
export function addressIn({ hostname }: URL): string | undefined {
  const text = hostname.replace(/^\[(.*)\]$/, "$1");
  return isIP(text) === 0 ? undefined : text;
}

/** Resolves a name for a connection, which is made to one of the addresses that were checked: a second answer of the name server has no effect. */
export const publicLookup: LookupFunction = (hostname, options, callback) => {
  resolve(hostname, { ...options, all: true }, (error, addresses: LookupAddress[]) => {
    const [first] = addresses ?? [];
    if (error !== null || first === undefined) return callback(error ?? new AddressNotAllowed(hostname), "", 0);
    if (!addresses.every(({ address }) => isPublicAddress(address))) {
      return callback(new AddressNotAllowed(hostname), "", 0);
    }
    if (options.all === true) return callback(null, addresses);
    return callback(null, first.address, first.family);
  });
};
