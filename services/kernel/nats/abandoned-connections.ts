import type { NatsConnection } from "nats";

/** Of the library (nats 2.29), beside its interface. */
type Internals = {
  readonly protocol: {
    connected: boolean;
    readonly connectPromise: Promise<unknown> | null;
    readonly transport: { readonly connected: boolean; readonly isClosed: boolean };
    disconnected: (error?: Error) => Promise<void>;
  };
};

/**
 * The library abandons an attempt to connect that takes too long, as to a node whose machine is gone, but does not end it. When the node is back,
 * the attempt succeeds late, the node ends it because no login follows, and the library takes that for the loss of its present connection: it
 * opens another one and keeps both. Requests then arrive over the first, and the broker refuses their answers, which are sent over the second.
 */
export function ignoreAbandonedConnections(connection: NatsConnection): void {
  const { protocol } = connection as unknown as Internals;
  const reconnect = protocol.disconnected.bind(protocol);
  protocol.disconnected = async (error) => {
    const { connectPromise, transport } = protocol;
    const isUp = connectPromise === null && transport.connected && !transport.isClosed;
    if (!isUp) return await reconnect(error);
    protocol.connected = true;
  };
}
