//! Training, evaluation, benchmarks and downloads.
