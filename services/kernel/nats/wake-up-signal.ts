import type { Broker } from "./connect.ts";

const NUMBER = /^\d{1,19}$/;

/** Sends the readers of a feed its last number. Plain NATS: after a lost signal, the next periodic read finds the entry. */
export function signalReaders({ connection, isConnected }: Broker): (feed: string, lastNumber: bigint) => void {
  return (feed, lastNumber) => {
    if (isConnected() && !connection.isDraining()) connection.publish(subjectOf(feed), String(lastNumber));
  };
}

/** Until disposed, `wake` is called with the last number of the feed. */
export function onWakeUp({ connection }: Broker, feed: string, wake: (lastNumber: bigint) => void): Disposable {
  const subscription = connection.subscribe(subjectOf(feed), {
    callback(error, message) {
      const text = error === null ? message.string() : "";
      if (NUMBER.test(text)) wake(BigInt(text));
    },
  });
  return { [Symbol.dispose]: () => subscription.unsubscribe() };
}

function subjectOf(feed: string): string {
  return `feed.v1.published.${feed}`;
}
