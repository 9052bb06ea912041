import { subscriptionCalls } from "./SubscriptionCalls.ts"

subscriptionCalls()
