import { accessSync, constants, existsSync, readFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { run } from './run.ts'

/** A part of the operating system that some tests need. */
export interface SystemPart {
  /** Alternative programs, or paths of folders, one of which must be installed. */
  programs: readonly string[]
  /** The package of Debian and Ubuntu that contains it. */
  package: string
  /** Path prefixes of the tests that need it. */
  suites: readonly string[]
}

const browser = ['test/journeys/', 'test/e2e/']
const keyring = 'test/integration/platform/secret-service'
const notifications = 'test/integration/platform/notifications'
const packaging = 'test/integration/packaging/'
const specs = 'test/electron/'
const shipped = 'test/electron/shipped/'
const desktop = 'test/electron/specs/desktop'
const monitors = 'test/electron/specs/monitors'
const installed = 'test/electron/specs/installed'
const silentFolders = 'test/integration/platform/silent-folder'
const images = 'test/e2e/images'
const watchdog = 'test/integration/ssh/watchdog/'
const jupyter = 'test/integration/ssh/jupyter'
const webApps = 'test/integration/ssh/web-apps'
const nodes = 'test/integration/nodes/'
const hours = 'test/integration/hours/'

export const systemParts: readonly SystemPart[] = [
  // It brings the libraries of Electron, too.
  part(['chromium', 'chromium-browser', 'google-chrome'], 'chromium', [...browser, jupyter, webApps, specs]),
  // Without it the page's tests run in Chromium, which takes longer. Only Debian has the package.
  ...(isSystem(/^ID=debian$/m) ? [part(['chromium-headless-shell'], 'chromium-headless-shell', [])] : []),
  part(['dbus-run-session'], 'dbus', [keyring, notifications, specs, ...browser]),
  part(['gnome-keyring-daemon'], 'gnome-keyring', [keyring, ...browser]),
  part(['secret-tool'], 'libsecret-tools', [keyring, ...browser, specs]),
  part(['Xvfb'], 'xvfb', [notifications, ...browser, specs]),
  part(['sway'], 'sway', [shipped, monitors]),
  part(['xfwm4'], 'xfwm4', [shipped, desktop]),
  part(['wmctrl'], 'wmctrl', [shipped, desktop]),
  part(['xfce4-panel'], 'xfce4-panel', [desktop]),
  part(['xfce4-notifyd-config'], 'xfce4-notifyd', [desktop]),
  part(['xfconf-query'], 'xfconf', [desktop]),
  part(['xdotool'], 'xdotool', [desktop]),
  part(['xfsettingsd'], 'xfce4-settings', [desktop]),
  part(['gio'], 'libglib2.0-bin', [installed, desktop, shipped]),
  part(['rpmbuild'], 'rpm', [shipped]),
  part(['xdg-mime'], 'xdg-utils', [installed]),
  // For an Electron from npm.
  part(['unzip'], 'unzip', [specs]),
  part(['xauth'], 'xauth', [notifications, ...browser]),
  part(['dunst'], 'dunst', [notifications, ...browser]),
  part(['sshd'], 'openssh-server', ['test/integration/ssh/', ...browser]),
  part(['ssh'], 'openssh-client', [
    'test/integration/ssh/',
    'test/integration/simulator',
    'test/integration/core/ssh-config',
    'test/unit/ssh/',
    ...browser,
  ]),
  part(['jupyter-notebook'], 'jupyter-notebook', [jupyter, ...browser]),
  part(['nginx'], 'nginx-light', ['test/integration/ssh/what-answers', webApps, jupyter]),
  part(['desktop-file-validate'], 'desktop-file-utils', [
    packaging,
    specs,
    'test/integration/platform/autostart',
  ]),
  part(['nm'], 'binutils', [packaging]),
  part(['file'], 'file', [packaging]),
  part(['openssl'], 'openssl', ['test/integration/ssh/certificates', 'test/integration/service/connections']),
  // Missing on Windows: programs started by a shell, and signals.
  part(['sh'], 'dash', [
    'test/integration/core/automation/',
    'test/integration/browser/starting',
    'test/integration/simulator/main',
  ]),
  part(['sshfs'], 'sshfs', [silentFolders]),
  part(['tmux'], 'tmux', ['test/integration/ssh/', ...browser]),
  part(['dash'], 'dash', [watchdog]),
  part(['busybox'], 'busybox', [watchdog, images]),
  part(['curl'], 'curl', [watchdog]),
  part(['wget'], 'wget', [watchdog]),
  part(['python3'], 'python3', [watchdog, packaging, hours]),
  part(['rsync'], 'rsync', ['test/integration/ssh/', ...browser]),
  part(['restic'], 'restic', [
    'test/integration/ssh/stored-runs',
    'test/integration/core/nights/moved',
    hours,
  ]),
  part(['ip'], 'iproute2', [nodes]),
  part(['torchrun'], 'python3-torch', [nodes]),
  part(['mpirun'], 'openmpi-bin', [nodes]),
  part(['/usr/lib/python3/dist-packages/mpi4py'], 'python3-mpi4py', [nodes]),
  part(['/usr/lib/python3/dist-packages/distributed'], 'python3-distributed', [nodes]),
]

function part(programs: readonly string[], name: string, suites: readonly string[]): SystemPart {
  return { programs, package: name, suites }
}

/** Whether missing parts are failures: in CI on Linux, where all can be installed. */
export function mustHaveAll(): boolean {
  return process.env['CI'] === 'true' && process.platform === 'linux'
}

export function missingParts(): SystemPart[] {
  return systemParts.filter(({ programs }) => !programs.some(isInstalled))
}

/** A program, or a folder by its path. Servers are in folders outside the PATH of ordinary users. */
export function isInstalled(program: string): boolean {
  if (program.startsWith('/')) return existsSync(program)
  const folders = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/usr/local/sbin']
  return folders.some(folder => {
    try {
      accessSync(join(folder, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** Whether packages may be installed without asking. */
export function mayInstall(): boolean {
  return process.env['BERTH_NO_APT'] !== '1' && process.getuid?.() === 0 && isDebian()
}

/** The command that installs the parts, for the user to type; undefined on other systems than Debian's. */
export function installCommand(parts: readonly SystemPart[]): string | undefined {
  return isDebian() ? `sudo apt-get install ${packages(parts).join(' ')}` : undefined
}

/** Installs parts; shows the package manager's output only where it fails. */
export async function install(parts: readonly SystemPart[]): Promise<void> {
  const env = { ...process.env, DEBIAN_FRONTEND: 'noninteractive' }
  const options = ['-qq', '-o=Dpkg::Use-Pty=0', '-o=Acquire::Retries=3']
  await run('apt-get', [...options, 'update'], env)
  await run('apt-get', [...options, 'install', '--yes', '--no-install-recommends', ...packages(parts)], env)
}

export function packages(parts: readonly SystemPart[]): string[] {
  return parts.map(part => part.package)
}

function isDebian(): boolean {
  return isSystem(/^ID(_LIKE)?=.*\b(debian|ubuntu)\b/m)
}

function isSystem(release: RegExp): boolean {
  return existsSync('/etc/os-release') && release.test(readFileSync('/etc/os-release', 'utf8'))
}
