import { MANAGER_RIGHT } from "../../settings.ts";
import type { Commands } from "../command.ts";
import { addUser } from "./user-add.ts";
import { changePassword, checkPassword, deleteUser, updateUser } from "./user-change.ts";
import { checkBalance, countUsers, getUser, getUserGroup, getUsers, listLogins } from "./user-read.ts";
import { getAccountState, getAccountStates } from "./user-account.ts";

const { readAccounts, editAccounts, deleteAccounts } = MANAGER_RIGHT;

export const USER_COMMANDS: Commands = {
  "user/add": { right: editAccounts, run: addUser },
  "user/update": { right: editAccounts, run: updateUser },
  "user/delete": { right: deleteAccounts, run: deleteUser },
  "user/check_password": { right: editAccounts, run: checkPassword },
  "user/change_password": { right: editAccounts, run: changePassword },
  "user/get": { right: readAccounts, run: getUser },
  "user/get_batch": { right: readAccounts, run: getUsers },
  "user/logins": { right: readAccounts, run: listLogins },
  "user/total": { right: readAccounts, run: countUsers },
  "user/group": { right: readAccounts, run: getUserGroup },
  "user/check_balance": { right: readAccounts, run: checkBalance },
  "user/account/get": { right: readAccounts, run: getAccountState },
  "user/account/get_batch": { right: readAccounts, run: getAccountStates },
};
