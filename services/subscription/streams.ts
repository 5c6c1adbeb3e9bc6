const MIB = 1024 * 1024;

/** What platform tells of accounts; its definition there is the same, so that whoever comes first may make it. */
export const MOVEMENT_STREAM = {
  name: "PLATFORM_MOVEMENTS",
  subjects: ["mirror.v1.moved.*"],
  maxBytes: 512 * MIB,
};

/** What this service tells of mirrors and exits. */
export const EVENT_STREAM = {
  name: "SUBSCRIPTION_EVENTS",
  subjects: ["mirror.v1.applied.*", "exit.v1.requested.*", "exit.v1.completed.*"],
  maxBytes: 512 * MIB,
};
