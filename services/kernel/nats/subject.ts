/** Where a method of a service is asked for. */
export function subjectOf(service: string, rpc: string): string {
  return `${subjectPrefix(service)}.${rpc}`;
}

export function subjectPrefix(service: string): string {
  return `pamm.v1.${service}`;
}
