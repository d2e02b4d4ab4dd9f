//! Agents, vector stores, gateways and hosted APIs.
