/** The subject on which a service receives the requests of a method. */
export function subjectOf(service: string, rpc: string): string {
  return `${subjectPrefix(service)}.${rpc}`;
}

export function subjectPrefix(service: string): string {
  return `pamm.v1.${service}`;
}
