import { WatchdogRequest } from '../../automation/watchdog.ts'
import { account, command, onInstance } from '../command.ts'

/** The watchdog inside an instance, which goes on when this machine sleeps. */
export const watchdogCommands = {
  /**
   * Puts it there over SSH, or changes the one that is there. Throws `not_running`, `no_instance_key`, `no_http_tool`,
   * `no_gpu_load` or `no_posix_shell`, and then leaves nothing; `invalid_argument` for a time that has passed.
   */
  putWatchdog: command({ ...onInstance, request: WatchdogRequest }).answers<void>(),
  /** Takes it away; where the instance cannot be reached now, as soon as it can. */
  removeWatchdog: command(onInstance).answers<void>(),
  /** Looks at it now, which renews its lease; finds one that another Berth has put there. */
  checkWatchdog: command(onInstance).answers<void>(),
  /**
   * Lines for a start script that put one there, for an instance that is not rented yet. They hold no secret. Throws
   * `invalid_argument` for a time that has passed.
   */
  watchdogStartScript: command({ account, request: WatchdogRequest }).answers<string>(),
  /** What it wrote down, oldest first; `at` in epoch seconds of the account's time. */
  watchdogLog: command(onInstance).answers<readonly { at: number; text: string }[]>(),
}
