import type { RunningBerth } from '../../core/running.ts'

/** What the page's server and the command's socket ask of Berth. */
type Asked = Pick<RunningBerth, 'connectPage' | 'sshArguments' | 'registerProject'>

/**
 * A Berth that is still starting, for the pages and commands that come before it is there: what they ask waits for it, in
 * order. Of a start that failed they hear nothing but that their connection ends.
 */
export function berthToCome(starting: Promise<Asked>): Asked {
  return {
    connectPage(send) {
      const link = starting.then(berth => berth.connectPage(send))
      link.catch(() => undefined)
      return {
        receive: message => void link.then(there => there.receive(message)).catch(() => undefined),
        drained: () => void link.then(there => there.drained()).catch(() => undefined),
        close: () => void link.then(there => there.close()).catch(() => undefined),
      }
    },
    sshArguments: async on => (await starting).sshArguments(on),
    registerProject: async folder => (await starting).registerProject(folder),
  }
}
