import type { IconName } from '../components/icons.ts'
import { partName } from '../components/sections.svelte.ts'

/** A screen's name in the address. */
export type ScreenId =
  | 'home'
  | 'instances'
  | 'offers'
  | 'projects'
  | 'templates'
  | 'transfers'
  | 'activity'
  | 'spending'
  | 'hosting'
  | 'account'
  | 'settings'

export interface Screen {
  id: ScreenId
  label: string
  icon: IconName
  /** Said while no account is connected; absent where the screen needs none. */
  connect?: string
  /** Stands at the foot of the navigation. */
  last?: boolean
}

/**
 * The parts of the two long screens, as their groups name them; `at` where that is not the title in lower case, `words`
 * for what people look for in them.
 */
export const screenParts: readonly { screen: ScreenId; title: string; at?: string; words?: string }[] = [
  ...(
    [
      ['Accounts'],
      ['Watching', 'poll interval'],
      ['Alerts', 'notifications low credit lost bid outbid'],
      ['Alerts elsewhere', 'phone ntfy slack discord teams webhook quiet hours lost bid outbid'],
      ['SSH key'],
      ['Terminal', 'font tmux'],
      ['Other tools', 'command line ssh config editor prometheus'],
      ['Agents and scripts', 'mcp caps'],
      ['Appearance', 'dark light theme'],
      ['Shortcuts', 'keys hotkeys global'],
      ['Another computer', 'export import backup new laptop move'],
      ['About', 'version updates diagnostics uninstall clean up'],
    ] as const
  ).map(([title, words = '']) => ({ screen: 'settings' as const, title, words })),
  ...['Profile', 'Notifications', 'Webhooks'].map(title => ({ screen: 'account' as const, title })),
  { screen: 'account', title: 'Credit', words: 'top up invoices charges payments' },
  { screen: 'account', title: 'Limits', words: 'budget day month' },
  { screen: 'account', title: 'Volumes', words: 'storage disk data set keep' },
  { screen: 'account', title: 'API keys', at: 'keys' },
  { screen: 'account', title: 'Two-factor authentication', at: 'two-factor' },
  { screen: 'account', title: 'SSH keys', at: 'ssh' },
  { screen: 'account', title: 'Environment variables' },
]

/** The address of a part of a long screen. */
export function addressOfPart({ screen, title, at }: (typeof screenParts)[number]): string {
  return `${screen}/${at ?? partName(title)}`
}

/** The entries of the navigation, in their order. */
export const screens: readonly Screen[] = [
  { id: 'home', label: 'Home', icon: 'home' },
  {
    id: 'instances',
    label: 'Instances',
    icon: 'instances',
    connect: 'Connect one to see and rent its instances.',
  },
  { id: 'offers', label: 'Offers', icon: 'offers', connect: 'Connect one to see what its market offers.' },
  { id: 'projects', label: 'Projects', icon: 'projects' },
  {
    id: 'templates',
    label: 'Templates',
    icon: 'templates',
    connect: 'Connect one to see its templates and rent from them.',
  },
  {
    id: 'transfers',
    label: 'Transfers',
    icon: 'transfers',
    connect: 'Connect one to move data between its instances.',
  },
  { id: 'activity', label: 'Activity', icon: 'activity' },
  { id: 'spending', label: 'Spending', icon: 'spending', connect: 'Connect one to see its spending.' },
  {
    id: 'hosting',
    label: 'Hosting',
    icon: 'hosting',
    connect: 'Connect one to manage its machines and endpoints.',
  },
  {
    id: 'account',
    label: 'Account',
    icon: 'account',
    connect: 'Connect one to manage its keys, notifications and limits.',
    last: true,
  },
  { id: 'settings', label: 'Settings', icon: 'settings', last: true },
]
