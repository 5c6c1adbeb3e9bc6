import type { Broker } from "./connect.ts";

const NUMBER = /^\d{1,19}$/;

/** Tells readers how far a feed is. Plain NATS: it may get lost, and then the next heartbeat says the same. */
export function feedNudger({ connection, isConnected }: Broker): (feed: string, lastNumber: bigint) => void {
  return (feed, lastNumber) => {
    if (isConnected() && !connection.isDraining()) connection.publish(subjectOf(feed), String(lastNumber));
  };
}

/** Until disposed, `wake` hears how far the feed is. */
export function onNudge({ connection }: Broker, feed: string, wake: (lastNumber: bigint) => void): Disposable {
  const subscription = connection.subscribe(subjectOf(feed), {
    callback(error, message) {
      const text = error === null ? message.string() : "";
      if (NUMBER.test(text)) wake(BigInt(text));
    },
  });
  return { [Symbol.dispose]: () => subscription.unsubscribe() };
}

function subjectOf(feed: string): string {
  return `feed.v1.told.${feed}`;
}
