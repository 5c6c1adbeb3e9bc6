import { BlockList, isIP } from "node:net";

const NETWORK = /^([0-9a-f.:]+)(?:\/(\d{1,3}))?$/i;

/** An address, or a network such as 10.0.0.0/8. */
export function isAddressOrNetwork(text: string): boolean {
  const [, address = "", bits] = NETWORK.exec(text) ?? [];
  const version = isIP(address);
  if (version === 0) return false;
  return bits === undefined || Number(bits) <= (version === 4 ? 32 : 128);
}

/** Whether an address is in the list; an empty list allows every address. */
export function allows(allowed: readonly string[]): (address: string) => boolean {
  if (allowed.length === 0) return () => true;
  const list = new BlockList();
  for (const text of allowed) {
    const [, address = "", bits] = NETWORK.exec(text) ?? [];
    const family = isIP(address) === 4 ? "ipv4" : "ipv6";
    if (bits === undefined) list.addAddress(address, family);
    else list.addSubnet(address, Number(bits), family);
  }
  return (address) => isIP(address) !== 0 && list.check(address, isIP(address) === 4 ? "ipv4" : "ipv6");
}

/** An address as some proxies write it: with the port of the connection, and IPv6 in brackets. */
const WITH_PORT = /^(?:([\d.]+)|\[([0-9a-f.:]+)\])(?::\d+)?$/i;

/** The addresses of X-Forwarded-For without ports, which differ with each connection. What is no address stays as it was sent. */
export function withoutPorts(forwardedFor: string): string {
  const entries = forwardedFor.split(",").map((entry) => {
    const [, ipv4, ipv6] = WITH_PORT.exec(entry.trim()) ?? [];
    const address = ipv4 ?? ipv6 ?? "";
    return isIP(address) === 0 ? entry : address;
  });
  return entries.join(",");
}

/** The first four groups of an IPv6 address: the smallest network that is given away. One machine has all addresses in it. */
const NETWORK_GROUPS = 4;
const GROUPS = 8;
/** IPv4 in IPv6. */
const MAPPED = /^(?:0:){5}ffff:(\w+):(\w+)$/;

/** Those to whom a limit of an address applies: an IPv4 address in either form, or the /64 network of an IPv6 address. */
export function limitedNetwork(address: string): string {
  if (isIP(address) !== 6) return address;
  // The URL writes each address in one form, without its zone.
  const written = new URL(`http://[${address.replace(/%.*/, "")}]`).hostname.slice(1, -1);
  const [before = [], after = []] = written.split("::").map((part) => part.split(":").filter((group) => group !== ""));
  const groups = [...before, ...Array<string>(GROUPS - before.length - after.length).fill("0"), ...after];
  const [, high, low] = MAPPED.exec(groups.join(":")) ?? [];
  if (high === undefined || low === undefined) return `${groups.slice(0, NETWORK_GROUPS).join(":")}::/64`;
  return [high, low].flatMap((group) => [parseInt(group, 16) >> 8, parseInt(group, 16) & 0xff]).join(".");
}
