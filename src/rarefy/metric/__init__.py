"""How good predictions are.

Functions on arrays that are at hand and accumulators (`Running...`) are one half; MXNet's metrics,
which take in lists of arrays and keep local and global sums, the other.
"""

from rarefy.metric._classification import (
    F1,
    MCC,
    PCC,
    Accuracy,
    CrossEntropy,
    NegativeLogLikelihood,
    Perplexity,
    TopKAccuracy,
)
from rarefy.metric._metric import (
    CompositeEvalMetric,
    CustomMetric,
    EvalMetric,
    alias,
    check_label_shapes,
    create,
    np,
    register,
)
from rarefy.metric._ranking import AUC, LogLoss
from rarefy.metric._regression import MAE, MSE, RMSE, Caffe, Loss, PearsonCorrelation, Torch
from rarefy.metric._scores import (
    Running,
    RunningAUC,
    RunningCoarseAUC,
    RunningMean,
    RunningRMSE,
    accuracy,
    auc,
    binary_log_loss,
    logistic_loss,
    mae,
    mse,
    rmse,
    softmax_loss,
)
