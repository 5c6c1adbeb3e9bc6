-- The holder of each role that only one process may have. The fence grows with each holder and never repeats.
create table lease (
  name       text primary key,
  holder     text not null,
  fence      bigint not null check (fence > 0),
  expires_at timestamptz not null
);
