import { WatchdogRequest } from '#contract/automation/watchdog.ts'
import { account, command, onInstance } from '../command.ts'

/** The watchdog inside an instance, which works while this machine sleeps. */
export const watchdogCommands = {
  /**
   * Installs or changes it over SSH. Throws `not_running`, `no_instance_key`, `no_http_tool`, `gpu_load_unread`
   * or `no_posix_shell`, and then leaves nothing; `invalid_argument` for a time that has passed.
   */
  putWatchdog: command({ ...onInstance, request: WatchdogRequest }).answers<void>(),
  /** Removes it as soon as the instance can be reached. */
  removeWatchdog: command(onInstance).answers<void>(),
  /** Reads it now, which renews its lease; also finds one that another Berth has installed. */
  checkWatchdog: command(onInstance).answers<void>(),
  /**
   * Lines for the start script of a future instance that install a watchdog. Without secrets. Throws
   * `invalid_argument` for a time that has passed.
   */
  watchdogStartScript: command({ account, request: WatchdogRequest }).answers<string>(),
  /** Its log, oldest first; `at` in epoch seconds of the account's time. */
  watchdogLog: command(onInstance).answers<readonly { at: number; text: string }[]>(),
}
