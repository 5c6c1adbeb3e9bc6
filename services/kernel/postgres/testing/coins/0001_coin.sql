create table coin (id bigint generated always as identity primary key);
create table outbox (id bigint generated always as identity primary key);
