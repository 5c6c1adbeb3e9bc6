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
