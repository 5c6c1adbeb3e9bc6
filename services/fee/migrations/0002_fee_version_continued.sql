-- Forward only: once applied, this file must not change. Rules: CONTRIBUTING.md, "A new migration".

-- The newest entry that has begun is in force. A version that is scheduled after a new entry is therefore recorded again after it, and
-- these columns distinguish the entries of versions from those that continue one. The previous release reads all of them alike, with the same result.
alter table fee_version
  -- The version whose terms the entry has; null for the entry of a version itself.
  add column restates bigint,
  -- The cancelled version in whose place it begins; without `restates` nothing is in force from there on.
  add column cancels bigint;
