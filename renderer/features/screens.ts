import type { IconName } from '../components/icons.ts'

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

interface Screen {
  id: ScreenId
  label: string
  icon: IconName
  /** Stands at the foot of the navigation. */
  last?: boolean
}

/** The entries of the navigation, in their order. */
export const screens: readonly Screen[] = [
  { id: 'home', label: 'Home', icon: 'home' },
  { id: 'instances', label: 'Instances', icon: 'instances' },
  { id: 'offers', label: 'Offers', icon: 'offers' },
  { id: 'projects', label: 'Projects', icon: 'projects' },
  { id: 'templates', label: 'Templates', icon: 'templates' },
  { id: 'transfers', label: 'Transfers', icon: 'transfers' },
  { id: 'activity', label: 'Activity', icon: 'activity' },
  { id: 'spending', label: 'Spending', icon: 'spending' },
  { id: 'hosting', label: 'Hosting', icon: 'hosting' },
  { id: 'account', label: 'Account', icon: 'account', last: true },
  { id: 'settings', label: 'Settings', icon: 'settings', last: true },
]
